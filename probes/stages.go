package probes

import "time"

// stages splits the time of a call into what follows each other, without a gap: those of
// a call that was answered add up to all of it.
type stages struct {
	last time.Time // when the stage under way began
	took []time.Duration
}

// The stages of a call over TCP, in their order. A probe has the first few of them.
const (
	stageDNS     = iota // to the address of the name
	stageConnect        // to the connection
	stageTLS            // to the end of the handshake
	stageRequest        // to the last byte of the request written
	stageWait           // to the first byte of the answer
	stageBody           // to its last
)

// stageColumns are the columns of the first n stages.
func stageColumns(n int) []string {
	return []string{"dns_ns", "connect_ns", "tls_ns", "request_ns", "wait_ns", "body_ns"}[:n:n]
}

// begin begins a call of n stages.
func (s *stages) begin(n int, now time.Time) {
	s.last, s.took = now, s.took[:0]
	for range n {
		s.took = append(s.took, -1)
	}
}

// end ends a stage, at the earliest when the one before it did: a server may answer
// before it has read all of a request.
func (s *stages) end(stage int, at time.Time) {
	if at.Before(s.last) {
		at = s.last
	}
	s.took[stage], s.last = at.Sub(s.last), at
}

// appendCells writes how long each took, - for those that were not or did not end.
func (s *stages) appendCells(dst []byte) []byte {
	for i, d := range s.took {
		if i > 0 {
			dst = append(dst, '\t')
		}
		dst = appendKnown(dst, d)
	}
	return dst
}
