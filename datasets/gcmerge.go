package datasets

import (
	"slices"
	"strings"
	"time"
)

// gcMerge makes one pause of a stop of all threads and the collections that were made in
// it. Each has a line of its own, the stop's behind the others, if it is logged at all:
// whether it is shows at the first collections.
type gcMerge struct {
	held  []gcEvent // collections whose stop has not been told yet
	ready []Pause
	stops stopLines
	told  int64   // collections
	until Instant // the end of the last collection that was handed over without a stop
}

type stopLines int

const (
	stopsUnknown stopLines = iota
	stopsTold
	stopsUntold
)

const (
	// stampError is how far the stamps of two lines may be off: they are cut to 1 ms.
	stampError = 2 * time.Millisecond
	// stopSoon is how soon behind a collection its stop is told.
	stopSoon = 100 * time.Millisecond
	// mostHeld collections may be made in one stop; there are two if the first failed.
	mostHeld = 16
)

// collection takes a collection.
func (m *gcMerge) collection(e gcEvent) {
	m.told++
	if len(m.held) > 0 && (e.at > m.held[0].end().Add(stopSoon) || len(m.held) == mostHeld) {
		if m.stops == stopsUnknown {
			m.stops = stopsUntold
		}
		m.flush()
	}
	m.held = append(m.held, e)
	if m.stops == stopsUntold {
		m.flush()
	}
}

// stop takes a stop, with what is held back of it.
func (m *gcMerge) stop(e gcEvent) {
	m.stops = stopsTold
	from := e.at.Add(-stampError)
	within := m.held
	for len(within) > 0 && within[0].at < from {
		within = within[1:]
	}
	m.giveUp(m.held[:len(m.held)-len(within)])
	if len(within) > 0 {
		e.number = within[0].number
		e.cause = causes(within)
	}
	m.held = m.held[:0]
	if len(within) == 0 && e.at < m.until && e.end() > m.until.Add(-stampError) && m.until > 0 {
		return // of a collection that was not held back long enough
	}
	m.ready = append(m.ready, e.pause())
}

// causes names each kind of collection once.
func causes(events []gcEvent) string {
	var names []string
	for _, e := range events {
		if !slices.Contains(names, e.cause) {
			names = append(names, e.cause)
		}
	}
	return strings.Join(names, " + ")
}

// flush hands over what is held back.
func (m *gcMerge) flush() {
	m.giveUp(m.held)
	m.held = m.held[:0]
}

func (m *gcMerge) giveUp(events []gcEvent) {
	for _, e := range events {
		m.ready = append(m.ready, e.pause())
		m.until = e.end()
	}
}

func (m *gcMerge) next() (Pause, bool) {
	if len(m.ready) == 0 {
		return Pause{}, false
	}
	p := m.ready[0]
	m.ready = m.ready[1:]
	if len(m.ready) == 0 {
		m.ready = nil
	}
	return p, true
}
