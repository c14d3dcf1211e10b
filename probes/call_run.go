package probes

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// callRun is one recording of calls: one goroutine lets each begin when it is due, each
// in flight has a goroutine of its own, and the one that runs it records.
type callRun struct {
	probe     *callProbe
	epoch     time.Time
	schedule  schedule
	deadlines deadlines
	listen    time.Duration
	stalls    *stalls

	mu    sync.Mutex // guards what follows
	queue []*pending // begun and not recorded, in the order of their numbers
	idle  []*line    // the last one used is the next one to be: the fewer stay open
	lines int
	sent  sending
	spare []*pending

	calling sync.WaitGroup
}

// pending is a call from its beginning until its row is recorded.
type pending struct {
	seq      int64
	due      datasets.Instant
	sent     datasets.Instant
	answered datasets.Instant
	inflight int
	ended    bool
	cut      bool // the recording was stopped while it was in flight
	called   called
}

// line is a caller and the goroutine that uses it.
type line struct {
	calls  chan *pending
	caller caller // opened at the first call
}

func (r *callRun) now() datasets.Instant { return r.at(time.Now()) }

func (r *callRun) at(t time.Time) datasets.Instant { return datasets.Instant(t.Sub(r.epoch)) }

func (r *callRun) run(ctx context.Context, rec Recorder) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r.stalls = watchStalls(r.epoch)
	defer r.stalls.stop()
	allBegun := make(chan struct{})
	var beginning sync.WaitGroup
	beginning.Go(func() {
		defer close(allBegun)
		r.begin(ctx)
	})
	err := r.record(ctx, allBegun, rec)
	stop()
	beginning.Wait()
	r.mu.Lock()
	for _, l := range r.idle {
		close(l.calls)
	}
	r.idle = nil
	r.mu.Unlock()
	r.calling.Wait()
	return err
}

// begin lets every call begin when it is due.
func (r *callRun) begin(ctx context.Context) {
	sleeper := r.probe.sleeper()
	defer sleeper.close()
	for seq, due := range r.schedule.all() {
		if !sleeper.until(ctx, r.epoch.Add(time.Duration(due))) {
			return
		}
		r.place(ctx, seq, due)
	}
}

// place hands a call to a line that is free, or notes why it cannot be made.
func (r *callRun) place(ctx context.Context, seq int64, due datasets.Instant) {
	now := r.now()
	r.mu.Lock()
	p := r.pending(seq, due)
	overdue := now.Sub(due) > r.listen
	free := len(r.idle) > 0 || r.lines < r.probe.inflight
	if overdue || !free {
		if overdue {
			r.sent.skipped++
		} else {
			r.sent.crowded++
		}
		p.called.outcome, p.sent, p.ended = datasets.LostLocal, now, true
		r.mu.Unlock()
		return
	}
	var l *line
	if n := len(r.idle); n > 0 {
		l, r.idle = r.idle[n-1], r.idle[:n-1]
	} else {
		l = &line{calls: make(chan *pending, 1)}
		r.lines++
		r.calling.Go(func() { r.serve(ctx, l) })
	}
	p.inflight = r.lines - len(r.idle)
	r.mu.Unlock()
	l.calls <- p
}

// pending returns room for one more call. The lock must be held.
func (r *callRun) pending(seq int64, due datasets.Instant) *pending {
	var p *pending
	if n := len(r.spare); n > 0 {
		p, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		p = &pending{}
	}
	*p = pending{seq: seq, due: due, called: called{cells: p.called.cells[:0]}}
	r.queue = append(r.queue, p)
	return p
}

// serve makes the calls of one line until there are no more.
func (r *callRun) serve(ctx context.Context, l *line) {
	for p := range l.calls {
		r.call(ctx, l, p)
		r.mu.Lock()
		p.ended = true
		if p.called.outcome == datasets.LostLocal && !p.cut {
			r.sent.refused(errorText(p.called.why))
		} else if !p.cut {
			r.sent.left(p.due, p.sent)
		}
		over := ctx.Err() != nil
		if !over {
			r.idle = append(r.idle, l)
		}
		r.mu.Unlock()
		if over {
			break
		}
	}
	if l.caller != nil {
		_ = l.caller.close() // nothing is lost with it
	}
}

type errorText string

func (e errorText) Error() string { return string(e) }

// call makes one call and notes its times.
func (r *callRun) call(ctx context.Context, l *line, p *pending) {
	c := &p.called
	if l.caller == nil {
		var err error
		if l.caller, err = r.probe.open(); err != nil {
			p.sent = r.now()
			c.fail(err)
			c.outcome = datasets.LostLocal
			return
		}
	}
	until, done := context.WithDeadline(ctx, r.epoch.Add(time.Duration(p.due)+r.listen))
	defer done()
	c.sent = time.Now()
	l.caller.call(until, c)
	now := time.Now()
	if c.answered.IsZero() {
		c.answered = now
	}
	p.sent, p.answered = r.at(c.sent), r.at(c.answered)
	// What comes when nobody listens any longer is not heard, as on a socket.
	if c.outcome == datasets.Replied && p.answered.Sub(p.due) > r.listen {
		c.outcome = datasets.TimedOut
	}
	p.cut = ctx.Err() != nil && !c.outcome.Answered()
}

// record hands rows over as they become final, and ends the recording.
func (r *callRun) record(ctx context.Context, allBegun <-chan struct{}, rec Recorder) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var ready []*pending
	var row datasets.Sample
	for {
		stopped := false
		select {
		case <-ctx.Done():
			stopped = true
			<-allBegun
			r.await()
		case <-ticker.C:
		}
		over := isClosed(allBegun)
		var open, unfinished int64
		ready, open = r.ready(ready[:0], stopped)
		for _, p := range ready {
			if p.cut || !p.ended {
				unfinished++
				continue
			}
			r.fill(&row, p)
			if err := rec.Record(&row); err != nil {
				return err
			}
		}
		r.giveBack(ready)
		if stopped || over && open == 0 {
			return rec.End(append(append(r.sent.fields(), r.stalls.fields()...), count(datasets.KeyUnfinished, unfinished))...)
		}
	}
}

// await waits until no call is in flight, which a context that is done brings about.
func (r *callRun) await() {
	for {
		r.mu.Lock()
		open := false
		for _, p := range r.queue {
			open = open || !p.ended
		}
		r.mu.Unlock()
		if !open {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// ready takes the calls that are final from the front of the queue, or all of it, and
// returns how many are left.
func (r *callRun) ready(to []*pending, all bool) (ready []*pending, open int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for n < len(r.queue) && (all || r.queue[n].ended) {
		n++
	}
	to = append(to, r.queue[:n]...)
	rest := copy(r.queue, r.queue[n:])
	clear(r.queue[rest:])
	r.queue = r.queue[:rest]
	return to, int64(rest)
}

func (r *callRun) giveBack(done []*pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range done {
		if p.ended {
			r.spare = append(r.spare, p)
		}
	}
}

// fill makes a call a row.
func (r *callRun) fill(row *datasets.Sample, p *pending) {
	c := &p.called
	*row = datasets.Sample{
		Seq: p.seq, Call: p.seq, Attempt: 1, Due: p.due, Sent: p.sent,
		Outcome: c.outcome, Status: c.status, Deadline: r.deadlines.of(p.seq), Inflight: p.inflight,
	}
	if c.outcome != datasets.LostLocal {
		row.Size = c.size
	}
	if c.outcome.Answered() {
		row.Copies = 1
		row.Elapsed = p.answered.Sub(p.sent)
		row.Outcome = datasets.Judge(p.answered.Sub(p.due), row.Deadline)
		row.Stall = r.stalls.within(p.due, p.answered)
	}
	if len(c.cells) == 0 {
		for range r.probe.columns {
			c.cells = append(c.cells, "-\t"...)
		}
	} else {
		c.cells = append(c.cells, '\t')
	}
	row.Extra = string(append(c.cells, whyCell(c.why)...))
}

// whyCell is text that fits into one cell.
func whyCell(why string) string {
	if why == "" {
		return "-"
	}
	return strings.Join(strings.Fields(why), " ")
}
