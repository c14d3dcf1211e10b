// Package serve is the other end of a measurement: a UDP echo that returns its own
// stamps, an NTP server, and a plain TCP echo. The first two can be told to misbehave by
// a known amount, so that what a client measures can be held against the truth.
//
// What happens to a request, in order:
//
//  1. It arrives. The kernel's stamp of that moment is the server's receive stamp
//     T2 where the OS has one; a stamp taken after the read would be some 20 µs late.
//  2. The server reads it, unless it is frozen: then it waits in the socket.
//  3. What is no request is counted and ignored. Replies are never longer than
//     requests (but for the oversized fault and STAMP.Short), so the server amplifies
//     nothing.
//  4. Each [Fault], in the order given, adds to what shall happen to this exchange.
//     Each draws from a generator of its own, seeded by Config.Seed, its place in
//     the list and the listener: the n-th request meets the same fate whenever
//     the seed is the same, whatever the other faults are.
//  5. The reply is made complete but for the transmit stamp T3. That one is read
//     from the clock last, by the thread that sends, just before it sends.
//  6. The kernel's stamp of the departure, where there is one, is kept for a client in
//     interleaved mode (RFC 9769): its next reply tells it, once, with what the faults
//     did to T3.
//
// A STAMP reflector (RFC 8762) is the same again: what its packets say of the clock is what
// this host's kernel says, whatever the faults do to it. A stateful one numbers what it
// sends, and a request that a loss fault takes has no number: it was lost on its way there.
//
// # The truth under faults
//
// The server's clocks are this host's. Without faults an NTP client on the same
// host should find θ = 0, and δ of the path alone.
//
//	offset:by=X          T2 and T3 are X late: θ grows by X, δ stays
//	drift:ppm=R          both grow by R µs a second since the start: θ does
//	delay:out=O,back=B   T2 is the arrival + O, and the reply leaves B after T3:
//	                     θ grows by (O−B)/2, δ by O+B
//	reorder:by=X         a share of replies leaves X after T3
//	freeze:for=P         T3 − T2 grows by what is left of the freeze: θ and δ stay, the
//	                     client waits. In the echo it is in ServerQueued.
//	t3-before-t2:by=X    T3 alone is X early: θ falls by X/2, δ grows by X
//
// What a delay's timer fires late is spent before T3, so it is server time (T3 − T2)
// and falsifies neither θ nor δ. The same holds for the echo's ServerReceived and
// ServerSent, which are on the monotonic clock: offset and drift leave them alone,
// delay and t3-before-t2 do not: what a client saw is at least the path with its
// delays + ServerQueued + (ServerSent − ServerReceived). A reply that is on its way back is in the network:
// a freeze of the server does not hold it up.
package serve
