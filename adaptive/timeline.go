package adaptive

import (
	"slices"
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
	answers    queue         // attempts that left, by when their answer arrives
	silences   queue         // and those without, by when that is known
	latest     datasets.Instant
	now        datasets.Instant
	started    bool
	disordered int64
	events     [batch]event // played, but not handed out
	held       int          // how many of them
	players    []*player
	learning   bool // whether any player does
}

// Whatever becomes known is known within listen of its due time, but is written down
// a little later; a trace that does not say how long it listened is trusted to be
// in order within lookahead.
const (
	slack     = time.Second
	lookahead = 10 * time.Second
)

// batch is how many events are handed to a player at a time: they and what it needs
// of its own stay in the processor's nearest cache.
const batch = 256

func newTimeline(listen time.Duration, players ...*player) *timeline {
	t := &timeline{
		listen: listen, patience: listen + slack, players: players,
		learning: slices.ContainsFunc(players, (*player).learns),
		waiting:  newQueue(), answers: newQueue(), silences: newQueue(),
	}
	if listen <= 0 {
		t.patience = lookahead
	}
	return t
}

func (t *timeline) add(s *datasets.Sample) {
	if s.Outcome == datasets.LostLocal {
		return
	}
	f := flightOf(s, t.listen)
	known := f.at.Add(max(f.latency, 0))
	if !t.started {
		t.now, t.latest, t.started = f.at.Add(-t.patience), known, true
	}
	t.waiting.push(f)
	t.latest = max(t.latest, known)
	t.playUntil(t.latest.Add(-t.patience))
}

// end plays what still waits.
func (t *timeline) end() {
	t.playUntil(never - 1)
	t.handOut()
	for _, p := range t.players {
		p.disordered = t.disordered
	}
}

// playUntil lets the attempts leave that were due until then.
func (t *timeline) playUntil(due datasets.Instant) {
	for t.waiting.head <= due {
		t.play(t.waiting.pop())
	}
}

// play lets one attempt leave, after everything that was known by then.
func (t *timeline) play(f flight) {
	if f.at < t.now {
		t.disordered++
	}
	t.now = max(t.now, f.at)
	t.tell()
	known := max(f.at.Add(f.latency), t.now)
	f.at = t.now
	t.happen(f.event)
	f.at = known
	switch {
	case !t.learning: // nobody would be any wiser
	case f.kind == answered:
		f.kind = arrival
		t.answers.push(f)
	case f.kind == unanswered && f.latency > 0:
		f.kind = silence
		t.silences.push(f)
	}
}

// tell plays what is known by now.
func (t *timeline) tell() {
	for {
		next := &t.answers
		if t.silences.precedes(next) {
			next = &t.silences
		}
		if next.head > t.now {
			return
		}
		t.happen(next.pop().event)
	}
}

func (t *timeline) happen(e event) {
	t.events[t.held] = e
	if t.held++; t.held == batch {
		t.handOut()
	}
}

// handOut gives the players what was played. Inlined, it would keep happen from being.
//
//go:noinline
func (t *timeline) handOut() {
	for _, p := range t.players {
		p.play(t.events[:t.held])
	}
	t.held = 0
}
