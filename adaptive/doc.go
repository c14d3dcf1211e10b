// Package adaptive replays recorded latencies through timeout estimators and says
// what each would have done: how many answered calls it would have given up on, and
// how soon it would have noticed a dead peer.
//
// An [Estimator] sets a timeout from what has been observed so far; [Estimators]
// lists them. A [Replay] feeds one a trace, strictly in the order in which the
// caller would have learned things: an answer counts from the instant it arrived.
// [Tune] drives many in one pass and picks one by a [Goal].
//
// The replay is open loop ("L0"): the trace is taken as it is, and a timeout that
// fires changes nothing in it. It says nothing of retries on a queue.
package adaptive
