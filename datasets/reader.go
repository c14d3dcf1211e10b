package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// SyntaxError is a place in a file that could not be read. A file that has no lines has
// line 0.
type SyntaxError struct {
	File string
	Line int64
	Msg  string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// maxLine is the longest line a reader takes, and what bounds its memory.
const maxLine = 64 << 10

// Reader streams a native trace.
type Reader struct {
	name   string
	r      *bufio.Reader
	line   int64
	header *Header
	known  []int // for each column of the file its place in the row's columns, or −1
	plain  bool  // they are those of this version, in their order
	limit  int   // how many of the kind's columns the caller's rows have; 0 before the first Next
	rows   int64
	long   bool // the rest of an overlong line is still to be passed over
	err    error
	bad    badLines
	end    ending
}

// NewReader reads the header of a native trace; name is used in errors.
func NewReader(name string, r io.Reader) (*Reader, error) {
	tr := &Reader{name: name, r: bufio.NewReaderSize(r, maxLine), header: &Header{}}
	if err := tr.readVersion(); err != nil {
		return nil, err
	}
	return tr, tr.readHeader()
}

// Header returns the trace's header. What the end of the recording adds is in it
// once Next has returned false.
func (r *Reader) Header() *Header { return r.header }

// Next reads one row, and false at the end or at an error that ends the stream.
// The row's kind must be the header's, or RTT for an exchange trace. A line that
// cannot be read, or whose values no measurement gives, is counted, told by Warnings,
// and passed over.
func (r *Reader) Next(row Row) bool {
	if r.err != nil {
		return false
	}
	if r.limit == 0 && !r.bind(row) {
		return false
	}
	for r.end.another == 0 {
		line, err := r.readLine()
		switch {
		case errors.Is(err, io.EOF):
			return false
		case err != nil:
			if !r.bad.add(err) {
				r.err = err
				return false
			}
			continue
		case len(line) > 0 && line[0] == '#':
			r.readTrailer(line)
			continue
		}
		if r.take(row, line) {
			return true
		}
	}
	return false
}

// take reads a row from line, and notes why there is none.
func (r *Reader) take(row Row, line []byte) bool {
	msg := r.parseRow(row, line)
	switch {
	case msg == "":
		r.rows++
		if r.end.seen {
			r.end.after++
		}
		return true
	case bytes.HasPrefix(line, []byte(magic)):
		r.end.another = r.line
	default:
		r.bad.add(r.at(msg))
	}
	return false
}

// Err returns what ended the stream early, or nil. A stream in which no line
// could be read is an error; one cut off is not.
func (r *Reader) Err() error {
	if r.err == nil && r.rows == 0 && r.bad.count > 0 {
		return r.bad.first[0]
	}
	return r.err
}

// Warnings returns, after the last Next, what a user must know of the file.
func (r *Reader) Warnings() []string {
	warnings := r.bad.warnings(r.name)
	if r.err == nil {
		warnings = append(warnings, r.endWarnings()...)
	}
	return append(warnings, r.headerWarnings()...)
}

func (r *Reader) at(msg string) error { return &SyntaxError{r.name, r.line, msg} }

// bind checks that the trace's rows can be read into rows of this kind.
func (r *Reader) bind(row Row) bool {
	have, want := r.header.Kind(), row.Kind()
	if have != want && !(have == Exchanges && want == RTT) {
		r.err = fmt.Errorf("%s: holds rows of kind %q; want %q here", r.name, have, want)
		return false
	}
	r.limit = len(row.columns())
	r.plain = len(r.known) == r.limit
	for i, place := range r.known {
		r.plain = r.plain && place == i
	}
	return true
}

func (r *Reader) parseRow(row Row, line []byte) string {
	if s, ok := row.(*Sample); ok && r.plain && s.parseLine(line) && s.check() == nil {
		return ""
	}
	row.reset()
	extra, unknown := row.extra(), 0
	for i, place := range r.known {
		cell, rest, more := bytes.Cut(line, []byte{'\t'})
		if more != (i < len(r.known)-1) {
			return fmt.Sprintf("want %d cells", len(r.known))
		}
		line = rest
		switch {
		case place < 0:
			if unknown++; unknown > 1 {
				*extra += "\t"
			}
			*extra += string(cell)
		case place < r.limit:
			if err := row.parse(place, cell); err != nil {
				return fmt.Sprintf("%s %v", row.columns()[place], err)
			}
		}
	}
	if err := row.check(); err != nil {
		return err.Error()
	}
	return ""
}

// readLine returns the next whole line without its end, valid until the next call.
// A line without an end is not whole: what there is of it comes with io.EOF. An overlong line is a
// *SyntaxError, and the next call goes on behind it.
func (r *Reader) readLine() ([]byte, error) {
	for r.long {
		_, err := r.r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, r.broken(err)
		}
		r.long = err != nil
	}
	line, err := r.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		r.line++
		r.long = true
		return line, r.at(fmt.Sprintf("a line of more than %d bytes", maxLine))
	} else if err != nil {
		return line, r.broken(err)
	}
	r.line++
	return line[:len(line)-1], nil
}

func (r *Reader) broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return fmt.Errorf("%s:%d: %w", r.name, r.line+1, err)
}
