// Package gen makes latencies whose truth is known, to hold estimates to.
//
// A [Latency] is a distribution, given by its quantile function: what a uniform number u
// becomes. Where numbers follow one another ([Chain]: independent, autoregressive, with a
// long memory) they are uniform all the same, so that every latency keeps its
// distribution. A [World] does to a call what a network and a server do: pauses that hold
// up what arrives and what is being served, loss in bursts, a level that swings or shifts,
// a time before which nothing is bounded. All of it is a function of a seed.
package gen
