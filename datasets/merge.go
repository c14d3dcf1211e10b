package datasets

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Merge puts traces of one kind together in the order of their time, reading each as a
// stream. Where all have an epoch, instants are moved to the earliest one's; otherwise all
// are taken to have begun together.
type Merge struct {
	streams []Stream
	rows    []Row // the next one of each, nil behind its last
	shifts  []time.Duration
	header  *Header
	doubts  []string
	n       int64
	err     error
}

// NewMerge reads the first row of each. The names are for errors and warnings.
func NewMerge(names []string, streams []Stream) (*Merge, error) {
	m := &Merge{streams: streams, rows: make([]Row, len(streams)), shifts: make([]time.Duration, len(streams))}
	first := streams[0].Header()
	for i, s := range streams[1:] {
		h := s.Header()
		if h.Kind() != first.Kind() {
			return nil, fmt.Errorf("%s: holds rows of kind %q, and %s of kind %q", names[i+1], h.Kind(), names[0], first.Kind())
		}
		if !slices.Equal(h.Extra, first.Extra) {
			return nil, fmt.Errorf("%s: has the columns %q beside its own, and %s has %q", names[i+1], h.Extra, names[0], first.Extra)
		}
	}
	m.align(names)
	m.headers(names)
	for i := range streams {
		m.rows[i], _ = NewRow(first.Kind())
		m.advance(i)
	}
	return m, nil
}

// align finds the earliest epoch.
func (m *Merge) align(names []string) {
	var earliest time.Time
	for i, s := range m.streams {
		epoch, ok := s.Header().Epoch()
		if !ok {
			m.doubts = append(m.doubts, names[i]+": has no epoch: all traces are taken to have begun together")
			m.shifts = make([]time.Duration, len(m.streams))
			return
		}
		if earliest.IsZero() || epoch.Before(earliest) {
			earliest = epoch
		}
	}
	for i, s := range m.streams {
		epoch, _ := s.Header().Epoch()
		m.shifts[i] = epoch.Sub(earliest)
	}
}

// headers keeps the keys that all have with one value, and names the others.
func (m *Merge) headers(names []string) {
	m.header = &Header{Extra: m.streams[0].Header().Extra}
	var differ []string
	for _, f := range m.streams[0].Header().Fields() {
		same := !slices.ContainsFunc(m.streams, func(s Stream) bool { return s.Header().Text(f.Key) != f.Value })
		switch {
		case same:
			m.header.Set(f.Key, f.Value)
		case f.Key != KeyEpoch:
			differ = append(differ, f.Key)
		}
	}
	for i, shift := range m.shifts {
		if epoch, ok := m.streams[i].Header().Epoch(); ok && shift == 0 {
			m.header.SetEpoch(epoch)
		}
	}
	m.header.Set("merged", strings.Join(names, ", "))
	if len(differ) > 0 {
		m.doubts = append(m.doubts, "the traces differ in "+strings.Join(differ, ", ")+": what is computed of all of them mixes these")
	}
}

func (m *Merge) advance(i int) {
	if !m.streams[i].Next(m.rows[i]) {
		m.rows[i] = nil
		if err := m.streams[i].Err(); err != nil && m.err == nil {
			m.err = err
		}
		return
	}
	Shift(m.rows[i], m.shifts[i])
}

// Header returns that of the whole.
func (m *Merge) Header() *Header { return m.header }

// Next reads the earliest row that is left.
func (m *Merge) Next(row Row) bool {
	least := -1
	var when Instant
	for i, r := range m.rows {
		if r == nil {
			continue
		}
		if at, _ := When(r); least < 0 || at < when {
			least, when = i, at
		}
	}
	if least < 0 || m.err != nil {
		return false
	}
	if !setRow(row, m.rows[least]) {
		m.err = fmt.Errorf("merge: holds rows of kind %q; want %q here", m.header.Kind(), row.Kind())
		return false
	}
	Renumber(row, m.n, least, len(m.streams))
	m.n++
	m.advance(least)
	return true
}

// Err returns what ended one of the traces early.
func (m *Merge) Err() error { return m.err }

// Warnings returns what a user must know of the traces, and of their being one.
func (m *Merge) Warnings() []string {
	warnings := slices.Clone(m.doubts)
	for _, s := range m.streams {
		warnings = append(warnings, s.Warnings()...)
	}
	return warnings
}
