package probes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// waiting is a caller whose n-th call, of all lines, takes what it is told.
type waiting struct {
	calls *atomic.Int64
	takes func(n int64) time.Duration
}

func (w waiting) call(ctx context.Context, c *called) {
	n := w.calls.Add(1) - 1
	c.size = 8
	timer := time.NewTimer(w.takes(n))
	defer timer.Stop()
	select {
	case <-timer.C:
		c.cells = fmt.Appendf(c.cells, "%d", n)
	case <-ctx.Done():
		c.fail(ctx.Err())
	}
}

func (waiting) close() error { return nil }

// callsOf runs calls in a bubble of its own time.
func callsOf(t *testing.T, inflight int, plan Plan, cancelAt time.Duration, takes func(n int64) time.Duration) (rec *rowsOf) {
	t.Helper()
	rec = &rowsOf{}
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		p := callProbe{
			inflight: inflight, interval: 10 * time.Millisecond, columns: []string{"n"},
			open:    func() (caller, error) { return waiting{&calls, takes}, nil },
			sleeper: func() *sleeper { return &sleeper{} },
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if cancelAt > 0 {
			time.AfterFunc(cancelAt, cancel)
		}
		if err := p.run(ctx, "x", "", plan, rec); err != nil {
			t.Error(err)
		}
	})
	return rec
}

// The first call takes 95 ms, the others 1: all rows come in the order of the calls,
// each as if the others were not there.
func TestCallsAreOpenLoop(t *testing.T) {
	rec := callsOf(t, 100, Plan{Count: 20}, 0, func(n int64) time.Duration {
		if n == 0 {
			return 95 * time.Millisecond
		}
		return time.Millisecond
	})
	if len(rec.samples) != 20 {
		t.Fatalf("%d rows", len(rec.samples))
	}
	for i, s := range rec.samples {
		want := time.Millisecond
		if i == 0 {
			want = 95 * time.Millisecond
		}
		latency, _ := s.Latency()
		if s.Seq != int64(i) || s.Due != datasets.Instant(i)*ms(10) || s.Outcome != datasets.Replied || s.Size != 8 || latency < want || latency > want+tick {
			t.Errorf("%+v", s)
		}
		if inflight := s.Inflight; i > 0 && i < 10 && inflight != 2 || i >= 10 && inflight != 1 {
			t.Errorf("call %d: %d in flight", i, inflight)
		}
		if want := fmt.Sprintf("%d\t-", i); s.Extra != want {
			t.Errorf("call %d: cells %q, want %q", i, s.Extra, want)
		}
	}
}

// Three in flight are all that may be; each takes 100 ms, so of ten that are due within
// 100 ms three are made.
func TestCallsBeyondTheLimitAreLostHere(t *testing.T) {
	rec := callsOf(t, 3, Plan{Count: 10}, 0, func(int64) time.Duration { return 100 * time.Millisecond })
	var replied, lost int
	for _, s := range rec.samples {
		switch s.Outcome {
		case datasets.Replied:
			replied++
		case datasets.LostLocal:
			lost++
		default:
			t.Errorf("%+v", s)
		}
	}
	if replied != 3 || lost != 7 || rec.trailer.Text("crowded") != "7" || rec.trailer.Text(datasets.KeyUnfit) == "" {
		t.Errorf("%d replied, %d lost, crowded %s, unfit %q", replied, lost, rec.trailer.Text("crowded"), rec.trailer.Text(datasets.KeyUnfit))
	}
}

func TestCallsEndWithTheListening(t *testing.T) {
	plan := Plan{Count: 3, Listen: datasets.Some(200 * time.Millisecond), Deadline: datasets.Some(100 * time.Millisecond)}
	rec := callsOf(t, 10, plan, 0, func(n int64) time.Duration {
		return []time.Duration{50 * time.Millisecond, 150 * time.Millisecond, time.Hour}[n]
	})
	for i, want := range []datasets.Outcome{datasets.Replied, datasets.Late, datasets.TimedOut} {
		if got := rec.samples[i].Outcome; got != want {
			t.Errorf("call %d: %v, want %v", i, got, want)
		}
	}
}

// Ctrl-C keeps what has ended and counts what has not.
func TestCallsStop(t *testing.T) {
	rec := callsOf(t, 10, Plan{}, 105*time.Millisecond, func(n int64) time.Duration {
		if n%2 == 1 {
			return time.Hour
		}
		return time.Millisecond
	})
	if len(rec.samples) == 0 || rec.trailer.Text(datasets.KeyUnfinished) == "0" {
		t.Errorf("%d rows, %s unfinished", len(rec.samples), rec.trailer.Text(datasets.KeyUnfinished))
	}
	for _, s := range rec.samples {
		if s.Outcome != datasets.Replied || s.Seq%2 == 1 {
			t.Errorf("%+v", s)
		}
	}
}

func TestFailureIsWhoseFaultItWas(t *testing.T) {
	for _, c := range []struct {
		err  error
		want datasets.Outcome
	}{
		{context.DeadlineExceeded, datasets.TimedOut},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, datasets.TimedOut},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, datasets.Refused},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, datasets.Refused},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}, datasets.Refused},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}, datasets.LostLocal},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}, datasets.LostLocal},
		{&net.DNSError{Err: "no such host", IsNotFound: true}, datasets.LostLocal},
		{&net.DNSError{Err: "timeout", IsTimeout: true}, datasets.TimedOut},
		{fs.ErrInvalid, datasets.Invalid},
		{errors.New("garbage"), datasets.Invalid},
	} {
		if got := failure(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

func TestStallsWithin(t *testing.T) {
	s := &stalls{seen: []stall{{ms(10), ms(20)}, {ms(100), ms(600)}}}
	for _, c := range []struct {
		from, to datasets.Instant
		want     time.Duration
	}{
		{0, ms(5), 0},
		{0, ms(1000), 510 * time.Millisecond},
		{ms(15), ms(150), 55 * time.Millisecond},
		{ms(20), ms(100), 0},
		{ms(200), ms(300), 100 * time.Millisecond},
	} {
		if got := s.within(c.from, c.to); got != c.want {
			t.Errorf("[%d, %d]: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
