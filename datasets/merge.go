package datasets

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Merge puts traces of one kind together in the order of their time, reading each as a
// stream, and none before its time has come where the file tells when that is. Where all
// have an epoch, instants are moved to the earliest one's; otherwise all are taken to have
// begun together.
type Merge struct {
	parts  []mergePart
	now    *mergePart // whose row was the latest
	place  int        // of that one
	until  Instant    // when another has an earlier one
	header *Header
	doubts []string
	n      int64
	err    error
}

// mergePart is one of the traces.
type mergePart struct {
	Stream
	name  string
	row   Row // the next one, nil behind the last
	at    Instant
	begun bool // the row was read; until then at is no later than its first one's time
	shift time.Duration
}

// NewMerge holds the headers together, and reads no row. The names are for errors and
// warnings.
func NewMerge(names []string, streams []Stream) (*Merge, error) {
	m := &Merge{}
	first := streams[0].Header()
	for i, s := range streams {
		h := s.Header()
		if h.Kind() != first.Kind() {
			return nil, fmt.Errorf("%s: holds rows of kind %q, and %s of kind %q", names[i], h.Kind(), names[0], first.Kind())
		}
		if !slices.Equal(h.Extra, first.Extra) {
			return nil, fmt.Errorf("%s: has the columns %q beside its own, and %s has %q", names[i], h.Extra, names[0], first.Extra)
		}
		row, _ := NewRow(first.Kind())
		m.parts = append(m.parts, mergePart{Stream: s, name: names[i], row: row, at: math.MinInt64})
	}
	m.align()
	m.headers()
	for i := range m.parts {
		p := &m.parts[i]
		if f, ok := p.Stream.(*Parquet); ok {
			if least, ok := f.begins(); ok {
				p.at = least.Add(p.shift)
			}
		}
	}
	return m, nil
}

// align finds the earliest epoch.
func (m *Merge) align() {
	var earliest time.Time
	for _, p := range m.parts {
		epoch, ok := p.Header().Epoch()
		if !ok {
			m.doubts = append(m.doubts, p.name+": has no epoch: all traces are taken to have begun together")
			return
		}
		if earliest.IsZero() || epoch.Before(earliest) {
			earliest = epoch
		}
	}
	for i, p := range m.parts {
		epoch, _ := p.Header().Epoch()
		m.parts[i].shift = epoch.Sub(earliest)
	}
}

// headers keeps the keys that all have with one value, and names the others.
func (m *Merge) headers() {
	first := m.parts[0].Header()
	m.header = &Header{Extra: first.Extra}
	var names, differ []string
	for _, p := range m.parts {
		names = append(names, p.name)
		for _, f := range p.Header().Fields() {
			same := !slices.ContainsFunc(m.parts, func(o mergePart) bool { return o.Header().Text(f.Key) != f.Value })
			switch {
			case same:
				m.header.Set(f.Key, f.Value)
			case f.Key != KeyEpoch && !slices.Contains(differ, f.Key):
				differ = append(differ, f.Key)
			}
		}
	}
	for _, p := range m.parts {
		if epoch, ok := p.Header().Epoch(); ok && p.shift == 0 {
			m.header.SetEpoch(epoch)
		}
	}
	m.header.Set("merged", strings.Join(names, ", "))
	if len(differ) > 0 {
		m.doubts = append(m.doubts, "the traces differ in "+strings.Join(differ, ", ")+": what is computed of all of them mixes these")
	}
}

// Only reads the other columns of none.
func (m *Merge) Only(columns ...string) {
	for _, p := range m.parts {
		Only(p.Stream, columns...)
	}
}

// Between passes over what can be passed over of each.
func (m *Merge) Between(from, to Instant) {
	for _, p := range m.parts {
		if s, ok := p.Stream.(Selective); ok {
			s.Between(Instant(saturatingSub(int64(from), int64(p.shift))), Instant(saturatingSub(int64(to), int64(p.shift))))
		}
	}
}

// Header returns that of the whole. What the end of a trace told to be wrong with it is in
// it once Next has returned false.
func (m *Merge) Header() *Header { return m.header }

// Next reads the earliest row that is left.
func (m *Merge) Next(row Row) bool {
	if m.now == nil || m.now.row == nil || m.now.at >= m.until {
		m.choose()
	}
	if m.now == nil || m.err != nil {
		return false
	}
	if !setRow(row, m.now.row) {
		m.err = fmt.Errorf("merge: holds rows of kind %q; want %q here", m.header.Kind(), row.Kind())
		return false
	}
	Renumber(row, m.n, m.place, len(m.parts))
	m.n++
	m.advance(m.now)
	return true
}

// choose finds the part with the earliest row, the first of several, and when another's
// time comes.
func (m *Merge) choose() {
	for m.err == nil {
		least := -1
		m.now, m.until = nil, math.MaxInt64
		for i := range m.parts {
			switch p := &m.parts[i]; {
			case p.row == nil:
			case least < 0:
				least = i
			case p.at < m.parts[least].at:
				m.until, least = m.parts[least].at, i
			default:
				m.until = min(m.until, p.at)
			}
		}
		if least < 0 {
			m.end()
			return
		}
		p := &m.parts[least]
		if p.begun {
			m.now, m.place = p, least
			return
		}
		p.begun = true
		m.advance(p)
	}
}

// advance reads the next row of a part.
func (m *Merge) advance(p *mergePart) {
	if !p.Next(p.row) {
		p.row = nil
		if err := p.Err(); err != nil && m.err == nil {
			m.err = err
		}
		return
	}
	Shift(p.row, p.shift)
	p.at, _ = When(p.row)
}

// end takes over what makes a trace one to be careful with.
func (m *Merge) end() {
	for _, key := range []string{KeyUnfit, KeyLost} {
		for _, p := range m.parts {
			if _, same := m.header.Value(key); same {
				break
			}
			if what, ok := p.Header().Value(key); ok {
				m.header.Set(key, p.name+": "+what)
			}
		}
	}
}

// Err returns what ended one of the traces early.
func (m *Merge) Err() error { return m.err }

// Warnings returns what a user must know of the traces, and of their being one.
func (m *Merge) Warnings() []string {
	warnings := slices.Clone(m.doubts)
	for _, p := range m.parts {
		warnings = append(warnings, p.Warnings()...)
	}
	return warnings
}
