package serve

import "time"

// treatment is what the faults do to one exchange. The zero treatment is honest
// service; each fault adds to it.
type treatment struct {
	arrived time.Duration // of the request at the socket, since the server's start
	had     time.Duration // when the server has it, likewise: arrived, out passed and read

	lost      bool          // no reply
	out, back time.Duration // the path takes longer by these, before T2 and after T3
	copies    int           // sent besides the reply

	shift    time.Duration // of the server's wall clock
	rate     float64       // that it gains, seconds a second, since the server's start
	transmit time.Duration // of the transmit stamp alone, on every clock

	earlier uint64 // T3 of the reply before, as on the wire, for an interleaved one; 0 is none

	forged bool // the reply names another request than the one it answers
	kiss   string
	root   *rootClaim // nil is the honest one

	resized bool
	length  int // of the datagram, if resized
}

// rootClaim is the distance to its reference that the server makes the client
// believe.
type rootClaim struct{ delay, dispersion time.Duration }

// wallShift returns by how much the server's wall clock is off at a moment, given
// since the server's start.
func (t *treatment) wallShift(at time.Duration) time.Duration {
	return t.shift + time.Duration(t.rate*float64(at))
}

// received and sent return what to add to an honest wall stamp of either moment.
func (t *treatment) received() time.Duration { return t.out + t.wallShift(t.arrived+t.out) }

func (t *treatment) sent(at time.Duration) time.Duration {
	return t.transmit - t.back + t.wallShift(at-t.back)
}

// size returns the length of the datagram that carries a reply of n bytes.
func (t *treatment) size(n int) int {
	if t.resized {
		return t.length
	}
	return n
}
