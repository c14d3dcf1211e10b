package probes

import (
	"context"
	"sync"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/stamp"
)

// tick is how often rows are handed over and a silent socket is looked at.
const tick = 50 * time.Millisecond

// link carries the packets of a flight there and back, as a stamp.Conn does. One
// goroutine uses it; another may close it.
type link interface {
	// ReadBatch waits for packets. An error that is a refusal belongs to one attempt; one of
	// another kind, but for the deadline and the end, to the one that has waited longest.
	ReadBatch(in []stamp.Message) (n int, err error)
	// SendBatch sends the first n of the messages, or says why the first cannot be sent.
	// With stamp.ErrStopped it has sent some.
	SendBatch(out []stamp.Message) (n int, first uint32, err error)
	// Departure returns the stamp of a packet's departure, if it is known.
	Departure(number uint32, until time.Time) (datasets.Stamp, error)
	// SetReadDeadline says until when the next readings wait.
	SetReadDeadline(t time.Time) error
	Close() error
}

// datagrams is a socket of which packets are read and written one by one.
type datagrams interface {
	Read(buf []byte) (stamp.Arrival, error)
	Write(b []byte) (int, error)
	SetReadDeadline(t time.Time) error
	Close() error
}

// oneByOne is a link of datagrams.
type oneByOne struct{ datagrams }

func (o oneByOne) ReadBatch(in []stamp.Message) (n int, err error) {
	if in[0].Arrival, err = o.Read(in[0].Buf); err != nil {
		return 0, err
	}
	return 1, nil
}

func (o oneByOne) SendBatch(out []stamp.Message) (n int, first uint32, err error) {
	if _, err = o.Write(out[0].Buf); err != nil {
		return 0, 0, err
	}
	return 1, 0, nil
}

func (oneByOne) Departure(uint32, time.Time) (datasets.Stamp, error) {
	return datasets.Stamp{}, stamp.ErrNoStamp
}

// SetReadDeadline leaves the system's poller time to look whether something is there.
func (o oneByOne) SetReadDeadline(t time.Time) error {
	if least := time.Now().Add(100 * time.Microsecond); t.Before(least) {
		t = least
	}
	return o.datagrams.SetReadDeadline(t)
}

// flight is one run of a probe of single packets: one goroutine sends and receives, and
// the one that runs it records.
type flight struct {
	conn       link
	departures bool // are stamped
	epoch      time.Time
	schedule   schedule
	deadlines  deadlines
	cells      func(dst []byte, a *attempt) []byte // of the probe's own columns; nil without
	payload    int                                 // bytes of a packet, if the link makes them of another size; else 0
	tail       func() []datasets.Field             // of the trailer, what the link knows; nil without

	spin spin

	mu       sync.Mutex // guards what follows
	open     *inflight
	sent     sending
	departed int64  // stamps of departures
	dropped  uint32 // packets that found the socket full
}

func (f *flight) now() datasets.Instant { return datasets.Instant(time.Since(f.epoch)) }

// clocks reads both clocks.
func (f *flight) clocks() (wall int64, at datasets.Instant) {
	t := time.Now()
	return t.UnixNano(), datasets.Instant(t.Sub(f.epoch))
}

// run measures until the schedule is fulfilled and every attempt is settled, or
// ctx is done, or the socket or rec fails.
func (f *flight) run(ctx context.Context, rec Recorder) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	allSent := make(chan struct{})
	var flying sync.WaitGroup
	var failed error
	flying.Go(func() {
		if failed = f.fly(ctx, allSent); failed != nil {
			stop()
		}
	})
	err := f.record(ctx, allSent, rec)
	stop()
	f.conn.Close()
	flying.Wait()
	if err != nil {
		return err
	}
	return failed
}

// record hands rows over as they become final, and ends the recording.
func (f *flight) record(ctx context.Context, allSent <-chan struct{}, rec Recorder) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	rows := newRows(f, rec)
	for {
		select {
		case <-ctx.Done():
			<-allSent
			unfinished, err := rows.abandon()
			if err != nil {
				return err
			}
			return rec.End(f.trailer(unfinished)...)
		case <-ticker.C:
		}
		over := isClosed(allSent)
		open, err := rows.handOver()
		if err != nil {
			return err
		}
		if over && open == 0 {
			return rec.End(f.trailer(0)...)
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// trailer says how well the probe did what it was told.
func (f *flight) trailer(unfinished int64) []datasets.Field {
	f.mu.Lock()
	defer f.mu.Unlock()
	stray := &f.open.strays
	fields := f.sent.fields()
	if f.departures {
		fields = append(fields, count("t1-missing", f.sent.lateness.n-f.departed))
	}
	if f.tail != nil {
		fields = append(fields, f.tail()...)
	}
	return append(fields,
		count("junk", stray.junk),
		count("doubtful", stray.doubtful),
		count("duplicates-after", stray.duplicates),
		count("answers-after-listen", stray.late),
		count("refusals-unmatched", stray.refusals),
		count("socket-drops", int64(f.dropped)),
		count("wall-steps", f.open.steps.count),
		count(datasets.KeyUnfinished, unfinished),
	)
}
