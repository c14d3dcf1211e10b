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

// link carries the packets of a flight there and back. One goroutine reads it, another
// writes.
type link interface {
	// Read waits for a packet. An error that is a refusal belongs to one attempt; one of
	// another kind, but for the deadline and the end, to the one that has waited longest.
	Read(buf []byte) (stamp.Arrival, error)
	Write(b []byte) (int, error)
	SetReadDeadline(t time.Time) error
	Close() error
}

// refusal says that an attempt cannot be answered, and why.
type refusal struct {
	seq uint16 // the last bits of its number: no more fits into the packet's header
	why string
}

func (r *refusal) Error() string { return r.why }

// flight is one run of a probe of single packets: one goroutine sends, one receives,
// and the one that runs it records.
type flight struct {
	conn      link
	epoch     time.Time
	schedule  schedule
	deadlines deadlines
	cells     func(dst []byte, a *attempt) []byte // of the probe's own columns; nil without

	mu      sync.Mutex // guards what follows
	open    *inflight
	sent    sending
	dropped uint32 // packets that found the socket full
}

func (f *flight) now() datasets.Instant { return datasets.Instant(time.Since(f.epoch)) }

// run measures until the schedule is fulfilled and every attempt is settled, or
// ctx is done, or the socket or rec fails.
func (f *flight) run(ctx context.Context, rec Recorder) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	allSent := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		defer close(allSent)
		f.send(ctx)
	})
	var failed error
	both.Go(func() {
		if failed = f.receive(); failed != nil {
			stop()
		}
	})
	err := f.record(ctx, allSent, rec)
	stop()
	f.conn.Close()
	both.Wait()
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
	return append(f.sent.fields(),
		count("junk", stray.junk),
		count("doubtful", stray.doubtful),
		count("duplicates-after", stray.duplicates),
		count("answers-after-listen", stray.late),
		count("refusals-unmatched", stray.refusals),
		count("socket-drops", int64(f.dropped)),
		count(datasets.KeyUnfinished, unfinished),
	)
}
