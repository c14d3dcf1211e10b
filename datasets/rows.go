package datasets

import (
	"fmt"
	"strings"
	"time"
)

// rows is where an importer puts what it reads, and what it has to say of it.
type rows struct {
	file   string
	queue  []put
	taken  int
	free   []Row // that were read, to be used again
	series []*Series
	last   *Series // that of the last row
	named  map[string]*Series
	counts []doubt
}

// put is a row of a series that nobody has read.
type put struct {
	series *Series
	row    Row
}

// doubt is something to be said of a file, once or with a number.
type doubt struct {
	one, many string
	n         int64
}

// Series is one of the recordings in a file of another tool.
type Series struct {
	Name   string // within its file; "" for the only one
	Header *Header
	Rows   int64 // read so far

	origin time.Duration // what its instant zero is of the clock its times are of
	begun  bool
	calls  int64 // put so far
}

// of returns the series of a name, and whether this is the first that is heard of it: then
// its header has a kind, a target and a source, and the caller adds what it knows.
func (r *rows) of(name []byte, kind Kind, source string) (s *Series, first bool) {
	if r.last != nil && r.last.Name == string(name) {
		return r.last, false
	}
	if s := r.named[string(name)]; s != nil {
		r.last = s
		return s, false
	}
	s = &Series{Name: string(name), Header: &Header{}}
	s.Header.Set(KeyKind, string(kind))
	target := s.Name
	if target == "" {
		target = r.file
	}
	s.Header.Set(KeyTarget, target)
	s.Header.Set(KeySource, source)
	if r.named == nil {
		r.named = map[string]*Series{}
	}
	r.named[s.Name] = s
	r.series = append(r.series, s)
	return s, true
}

// since makes a time of the clock that the file's times are of an instant: the first one
// of a series is its instant zero.
func (s *Series) since(t time.Duration) Instant {
	if !s.begun {
		s.begun, s.origin = true, t
	}
	return Instant(saturatingSub(int64(t), int64(s.origin)))
}

// wall is since for a time since 1970, UTC, which the header tells.
func (s *Series) wall(t time.Duration) Instant {
	if !s.begun {
		s.Header.SetEpoch(time.Unix(0, int64(t)))
	}
	return s.since(t)
}

type rowOf[T any] interface {
	*T
	Row
}

func putRow[T any, P rowOf[T]](r *rows, s *Series) P {
	var row P
	if last := len(r.free) - 1; last >= 0 {
		// A file with rows of several kinds makes some of them anew.
		if row, _ = r.free[last].(P); row != nil {
			r.free = r.free[:last]
			row.reset()
		}
	}
	if row == nil {
		row = new(T)
	}
	r.queue = append(r.queue, put{s, row})
	return row
}

// point adds an empty row to a series, to be filled before the next piece is read; so do
// the ones below.
func (r *rows) point(s *Series) *Point       { return putRow[Point](r, s) }
func (r *rows) exchange(s *Series) *Exchange { return putRow[Exchange](r, s) }
func (r *rows) claim(s *Series) *Claim       { return putRow[Claim](r, s) }
func (r *rows) pause(s *Series) *Pause       { return putRow[Pause](r, s) }
func (r *rows) bin(s *Series) *Bin           { return putRow[Bin](r, s) }
func (r *rows) entry(s *Series) *Entry       { return putRow[Entry](r, s) }

// sample adds the only attempt of a call, answered unless the caller says otherwise.
func (r *rows) sample(s *Series) *Sample {
	row := putRow[Sample](r, s)
	n := s.calls
	s.calls++
	*row = Sample{Seq: n, Call: n, Attempt: 1, Copies: 1, Inflight: 1, Outcome: Replied}
	return row
}

// drop takes back the row that was added last.
func (r *rows) drop() {
	last := len(r.queue) - 1
	r.recycle(r.queue[last].row)
	r.queue = r.queue[:last]
}

// take hands over the row that has waited longest. It is used again with the next call.
func (r *rows) take() (*Series, Row, bool) {
	if r.taken > 0 {
		r.recycle(r.queue[r.taken-1].row)
	}
	if r.taken == len(r.queue) {
		r.queue, r.taken = r.queue[:0], 0
		return nil, nil, false
	}
	p := r.queue[r.taken]
	r.taken++
	return p.series, p.row, true
}

func (r *rows) recycle(row Row) {
	const most = 1 << 10
	if len(r.free) < most {
		r.free = append(r.free, row)
	}
}

// clear leaves out what nobody has read.
func (r *rows) clear() {
	for _, p := range r.queue[r.taken:] {
		r.recycle(p.row)
	}
	r.queue, r.taken = r.queue[:0], 0
}

// say adds something that a user must know of the file, once however often it is said.
func (r *rows) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for i := range r.counts {
		if r.counts[i].one == text {
			return
		}
	}
	r.counts = append(r.counts, doubt{one: text})
}

// count adds one to how often something was seen that a user must know: "1 line is …",
// "%d lines are …".
func (r *rows) count(one, many string) {
	for i := range r.counts {
		if r.counts[i].many == many {
			r.counts[i].n++
			return
		}
	}
	r.counts = append(r.counts, doubt{one, many, 1})
}

func (r *rows) doubts() []string {
	var said []string
	for _, d := range r.counts {
		if d.n > 1 {
			said = append(said, strings.Replace(d.many, "%d", fmt.Sprint(d.n), 1))
		} else {
			said = append(said, d.one)
		}
	}
	return said
}
