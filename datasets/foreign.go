package datasets

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// importer reads a file of another tool piece by piece.
type importer interface {
	// next reads on and puts the rows it finds into out, if any. It returns io.EOF behind
	// the last piece. A *SyntaxError is of one piece, and the next call goes on behind
	// it; any other error ends the file.
	next(out *rows) error
}

// An importer that knows in which line it is has a method place() int64.

// foreign is the format of a file of another tool.
type foreign struct {
	is   func(head []byte) bool
	open func(name string, r *bufio.Reader) importer
}

func bindForeign(is func(head []byte) bool, open func(name string, r *bufio.Reader) importer) func(*flag.FlagSet) func() (Format, error) {
	return func(*flag.FlagSet) func() (Format, error) {
		return func() (Format, error) { return foreign{is, open}, nil }
	}
}

func (f foreign) Recognise(head []byte) bool { return f.is(head) }

func (f foreign) Open(name string, r io.Reader) (Stream, error) {
	return openForeign(name, f.open(name, bufio.NewReaderSize(r, maxLine)))
}

// Foreign is the rows of a file of another tool. A file may hold several series, such as
// one for each server in one log: Next gives the rows of one of them, Any those of all.
type Foreign struct {
	name   string
	from   importer
	out    rows
	bad    badLines
	chosen *Series // whose rows Next gives
	asked  bool    // somebody chose it
	count  int64   // rows handed over
	ended  bool
	err    error
}

// openForeign reads up to the first row, whose series Next gives unless another is chosen.
func openForeign(name string, from importer) (*Foreign, error) {
	f := &Foreign{name: name, from: from, out: rows{file: name}}
	for len(f.out.queue) == 0 && f.more() {
	}
	switch {
	case f.Err() != nil:
		return nil, f.Err()
	case len(f.out.queue) > 0:
		f.chosen = f.out.queue[0].series
	case len(f.out.series) == 0:
		return nil, fmt.Errorf("%s: nothing in it can be a row of a trace%s", name, f.why())
	default:
		f.chosen = f.out.series[0]
	}
	return f, nil
}

// why repeats what was said of a file without rows.
func (f *Foreign) why() string {
	if said := f.out.doubts(); len(said) > 0 {
		return ": " + strings.Join(said, "; ")
	}
	return ""
}

// Choose makes Next give the rows of the series of that name. It must be called before
// Next.
func (f *Foreign) Choose(series string) error {
	for f.out.named[series] == nil {
		f.out.clear() // there may be many rows of others before
		if !f.more() {
			break
		}
	}
	if f.err != nil {
		return f.err
	}
	f.chosen, f.asked = f.out.named[series], true
	if f.chosen == nil {
		return fmt.Errorf("%s: no series %q in it: it has %s", f.name, series, f.names())
	}
	return nil
}

// names lists the series, in the order in which they came.
func (f *Foreign) names() string {
	const most = 8
	var names []string
	for i, s := range f.out.series {
		if i == most {
			return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), len(f.out.series)-most)
		}
		names = append(names, fmt.Sprintf("%q", s.Name))
	}
	return strings.Join(names, ", ")
}

// Series returns the series seen so far, in the order in which they came; after the last
// Next all of them.
func (f *Foreign) Series() []*Series { return f.out.series }

// Header returns the header of the series whose rows Next gives.
func (f *Foreign) Header() *Header { return f.chosen.Header }

// Next reads one row of the chosen series.
func (f *Foreign) Next(row Row) bool {
	for {
		s, r, ok := f.Any()
		if !ok {
			f.sayOthers()
			return false
		}
		if s != f.chosen {
			continue
		}
		if !setRow(row, r) {
			f.err = fmt.Errorf("%s: holds rows of kind %q; want %q here", f.name, r.Kind(), row.Kind())
			return false
		}
		return true
	}
}

// sayOthers tells who asked for no series that there are several.
func (f *Foreign) sayOthers() {
	if n := len(f.out.series); n > 1 && !f.asked {
		f.asked = true
		f.out.say("holds %d series: %s; this is %q, and FILE#NAME is another", n, f.names(), f.chosen.Name)
	}
}

// Any reads one row of any series. The row is valid until the next call.
func (f *Foreign) Any() (*Series, Row, bool) {
	for {
		if s, r, ok := f.out.take(); ok {
			f.count++
			s.Rows++
			return s, r, true
		}
		if !f.more() {
			return nil, nil, false
		}
	}
}

// more reads a piece, and returns false at the end.
func (f *Foreign) more() bool {
	if f.ended || f.err != nil {
		return false
	}
	before := len(f.out.queue)
	err := f.from.next(&f.out)
	f.check(before)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		f.ended = true
		return len(f.out.queue) > 0
	case !f.bad.add(err):
		f.err = err
	}
	return f.err == nil
}

// check takes out the rows from the n-th on that no measurement can give.
func (f *Foreign) check(n int) {
	kept := f.out.queue[:n]
	for _, p := range f.out.queue[n:] {
		if err := p.row.check(); err != nil {
			var line int64
			if l, ok := f.from.(interface{ place() int64 }); ok {
				line = l.place()
			}
			f.bad.add(&SyntaxError{f.name, line, err.Error()})
			f.out.recycle(p.row)
			continue
		}
		kept = append(kept, p)
	}
	f.out.queue = kept
}

// Err returns what ended the stream early, or nil. A file in which nothing could be read
// is an error.
func (f *Foreign) Err() error {
	if f.err == nil && f.ended && f.count == 0 && len(f.out.queue) == 0 && f.bad.count > 0 {
		return f.bad.first[0]
	}
	return f.err
}

// Warnings returns what a user must know of the file.
func (f *Foreign) Warnings() []string {
	warnings := f.bad.warnings(f.name)
	for _, doubt := range f.out.doubts() {
		warnings = append(warnings, f.name+": "+doubt)
	}
	return warnings
}
