package serve

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/stamp"
)

const (
	maxDatagram = 65535
	// maxFailures reads may fail one after the other before a listener gives up.
	maxFailures = 100
)

// service is what the echo, NTP and STAMP do differently.
type service interface {
	// accepts reports whether b is a request.
	accepts(b []byte) bool
	// answer turns a request, n bytes at the front of b, into its reply, complete but
	// for the transmit stamp, and returns the reply's length, which is at most n unless
	// the user asked for more.
	answer(b []byte, n int, a *stamp.Arrival, t *treatment) int
	// seal reads the clock and writes the transmit stamp into the reply b.
	seal(b []byte, t *treatment)
}

// stamped is a service that wants to know when its replies really left.
type stamped interface {
	left(reply []byte, at datasets.Stamp, t *treatment)
}

// listener serves one socket with one protocol.
type listener struct {
	conn    *stamp.Conn
	service service
	stamped stamped    // nil if nobody wants to know, or the system does not tell
	sending sync.Mutex // departures are numbered as they are sent, and told when they are known
	line    *delayLine
	start   time.Time // of the server: the zero of its schedule
	done    <-chan struct{}

	faults  []seeded
	freezes freezes
	stops   time.Duration // the read deadline in force: when the next freeze begins

	buf       []byte
	arrival   stamp.Arrival // of what is in buf
	treatment treatment     // of it
	tally     tally
	failure   error // what ended run before its time
}

type seeded struct {
	Fault
	rng *rand.Rand
}

func (l *listener) addr() netip.AddrPort {
	if l == nil {
		return netip.AddrPort{}
	}
	return l.conn.LocalAddr()
}

// run serves until the socket is closed. It does not lock its thread: waking a
// locked one took 8 µs longer, and the transmit stamp was no nearer to the send.
func (l *listener) run() {
	var err error
	for failures := 0; failures < maxFailures; {
		l.freeze()
		l.arrival, err = l.conn.Read(l.buf)
		switch {
		case err == nil:
			failures = 0
			l.handle()
		case errors.Is(err, os.ErrDeadlineExceeded): // a freeze begins
		case errors.Is(err, net.ErrClosed):
			return
		default:
			failures++
		}
	}
	l.failure = fmt.Errorf("serve: gave up after %d failed reads: %w", maxFailures, err)
}

// handle answers the request in buf, now or, if a fault says so, later.
func (l *listener) handle() {
	a, t := &l.arrival, &l.treatment
	l.tally.received.Add(1)
	l.tally.overflowed.Store(int64(a.Dropped))
	if !l.service.accepts(l.buf[:a.N]) {
		l.tally.ignored.Add(1)
		return
	}
	read := a.Mono.Sub(l.start)
	*t = treatment{arrived: read - a.Waited, had: read}
	for _, f := range l.faults {
		f.afflict(t, f.rng)
	}
	if t.lost {
		l.tally.lost.Add(1)
		return
	}
	if t.out > 0 {
		// The server has a request when it has arrived and somebody reads it.
		t.had = l.freezes.thawed(max(read, t.arrived+t.out))
	}
	l.sending.Lock() // the delay line may just be noting the departure that is asked for
	n := l.service.answer(l.buf, a.N, a, t)
	l.sending.Unlock()
	if t.out+t.back == 0 {
		l.send(l.buf, n, a.From, t)
	} else if !l.line.add(l.start.Add(t.had+t.back), l, n) {
		l.tally.crowded.Add(1)
	}
}

// send completes the reply, n bytes at the front of b, and sends it.
func (l *listener) send(b []byte, n int, to netip.AddrPort, t *treatment) {
	size := t.size(n)
	if size > n {
		clear(b[n:size])
	}
	l.sending.Lock()
	defer l.sending.Unlock()
	l.service.seal(b[:n], t)
	for copies := range 1 + t.copies {
		number, err := l.conn.SendTo(b[:size], to)
		if err != nil {
			l.tally.unsent.Add(1)
			continue
		}
		l.tally.sent.Add(1)
		if t.earlier != 0 && copies == 0 {
			l.tally.interleaved.Add(1)
		}
		if l.stamped == nil || copies > 0 || size < n {
			continue
		}
		// The stamp of a departure is there when the call returns, but for slow drivers.
		if at, err := l.conn.Departure(number, time.Time{}); err == nil {
			l.stamped.left(b[:n], at, t)
		}
	}
}

// freeze returns when the server is not frozen, and has the next read end when the
// next freeze begins. While it waits nobody reads the socket. A freeze that a busy
// host lets begin late lasts no less for it.
func (l *listener) freeze() {
	if len(l.freezes) == 0 {
		return
	}
	for {
		start, end, ok := l.freezes.next(time.Since(l.start))
		if !ok {
			l.stopAt(time.Time{}, -1)
			return
		}
		if time.Since(l.start) < start {
			l.stopAt(l.start.Add(start), start)
			return
		}
		began := time.Now()
		timer := time.NewTimer(end - start)
		select {
		case <-timer.C:
			l.tally.froze(Freeze{Start: began, Length: time.Since(began)})
		case <-l.done:
			timer.Stop()
			return
		}
	}
}

func (l *listener) stopAt(at time.Time, since time.Duration) {
	if l.stops != since {
		l.stops = since
		_ = l.conn.SetReadDeadline(at) // fails only on a closed socket, which the read finds too
	}
}
