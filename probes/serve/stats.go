package serve

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Stats is what a server has done so far.
type Stats struct {
	UDP, NTP, STAMP Counts
	TCP             TCPCounts
}

// TCPCounts is what the TCP echo has done so far.
type TCPCounts struct {
	Connections int64 // accepted
	Bytes       int64 // sent back, on connections that have ended
}

// Counts is what one listener has done so far. Datagrams read are answered, ignored,
// lost, crowded out or waiting.
type Counts struct {
	Received    int64 // datagrams read
	Ignored     int64 // of these, no requests
	Lost        int64 // requests left without a reply by a loss fault
	Sent        int64 // datagrams sent, duplicates among them
	Unsent      int64 // datagrams the system refused to send
	Interleaved int64 // NTP replies that told when the one before them left
	Waiting     int64 // replies that are not due yet
	Crowded     int64 // replies dropped because too many were waiting
	Overflowed  int64 // datagrams never read because the receive buffer was full (Linux)

	Frozen  int64    // freezes ended
	Freezes []Freeze // the latest of them, in order; at most 65536
}

// Freeze is one time during which a listener neither read nor answered.
type Freeze struct {
	Start  time.Time     // has the monotonic reading too
	Length time.Duration // by the monotonic clock
}

// maxFreezes bounds what a server that runs for months remembers.
const maxFreezes = 65536

// Stats returns the counts so far; those of what is not served are zero.
func (s *Server) Stats() Stats {
	return Stats{UDP: s.udp.counts(), NTP: s.ntp.counts(), STAMP: s.stamp.counts(), TCP: s.tcp.counts()}
}

// tally counts while others read it.
type tally struct {
	received, ignored, lost, sent, unsent, interleaved, crowded, overflowed atomic.Int64

	mu      sync.Mutex
	frozen  int64
	freezes []Freeze
}

func (t *tally) froze(f Freeze) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frozen++
	t.freezes = append(t.freezes, f)
	if len(t.freezes) >= 2*maxFreezes {
		t.freezes = slices.Clone(t.freezes[maxFreezes:])
	}
}

func (l *listener) counts() Counts {
	if l == nil {
		return Counts{}
	}
	t := &l.tally
	c := Counts{
		Received: t.received.Load(), Ignored: t.ignored.Load(), Lost: t.lost.Load(),
		Sent: t.sent.Load(), Unsent: t.unsent.Load(), Interleaved: t.interleaved.Load(), Crowded: t.crowded.Load(), Overflowed: t.overflowed.Load(),
		Waiting: l.line.waiting(l),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c.Frozen = t.frozen
	c.Freezes = slices.Clone(t.freezes[max(0, len(t.freezes)-maxFreezes):])
	return c
}
