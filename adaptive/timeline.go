package adaptive

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// timeline plays a trace to any number of players in the order in which its caller
// lived it: attempts leave when they are due, and what became of one is known no
// sooner than it was. Rows may come in either order, by due time or, as a recorder
// writes them, by the time their outcome became known.
type timeline struct {
	listen     time.Duration // 0 if unknown
	patience   time.Duration // how long a row waits for one that was due earlier
	waiting    queue         // rows not played yet, by due time
	inflight   queue         // attempts that left, by when their end is known
	latest     datasets.Instant
	now        datasets.Instant
	started    bool
	disordered int64
	players    []*player
}

// Whatever becomes known is known within listen of its due time, but is written down
// a little later; a trace that does not say how long it listened is trusted to be
// in order within lookahead.
const (
	slack     = time.Second
	lookahead = 10 * time.Second
)

func newTimeline(listen time.Duration, players ...*player) *timeline {
	t := &timeline{listen: listen, patience: listen + slack, players: players}
	if listen <= 0 {
		t.patience = lookahead
	}
	return t
}

func (t *timeline) add(s *datasets.Sample) {
	if s.Outcome == datasets.LostLocal {
		return
	}
	f, known := flightOf(s, t.listen)
	if !t.started {
		t.now, t.latest, t.started = f.due.Add(-t.patience), known, true
	}
	f.at = f.due
	t.waiting.push(&f)
	t.latest = max(t.latest, known)
	for next := t.waiting.first(); next != nil && t.latest.Sub(next.due) >= t.patience; next = t.waiting.first() {
		t.play(t.waiting.pop())
	}
}

// end plays what still waits.
func (t *timeline) end() {
	for t.waiting.first() != nil {
		t.play(t.waiting.pop())
	}
	for _, p := range t.players {
		p.disordered = t.disordered
	}
}

// play lets one attempt leave, after everything that was known by then.
func (t *timeline) play(f flight) {
	if f.due < t.now {
		t.disordered++
	}
	t.now = max(t.now, f.due)
	for next := t.inflight.first(); next != nil && next.at <= t.now; next = t.inflight.first() {
		t.tell(t.inflight.pop())
	}
	for _, p := range t.players {
		p.send(&f, t.now)
	}
	if f.fate == uncounted || f.fate == unanswered && f.latency <= 0 {
		return // nothing is ever learned from it
	}
	f.at = max(f.due.Add(f.latency), t.now)
	t.inflight.push(&f)
}

func (t *timeline) tell(f flight) {
	o := Observation{At: f.at, Latency: f.latency, Censored: f.fate == unanswered, Attempt: int(f.attempt)}
	for _, p := range t.players {
		p.estimator.Observe(o)
	}
}
