package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// SyntaxError is a place in a file that could not be read.
type SyntaxError struct {
	File string
	Line int64
	Msg  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// maxLine is the longest line a reader takes, and what bounds its memory.
const maxLine = 64 << 10

// Reader streams a native trace.
type Reader struct {
	name   string
	r      *bufio.Reader
	line   int64
	header *Header
	known  []int // for each column of the file its place in the row's columns, or −1
	limit  int   // how many of the kind's columns the caller's rows have; 0 before the first Next
	rows   int64
	long   bool // the rest of an overlong line is still to be passed over
	ended  bool // the end line was seen
	err    error
	bad    badLines
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
	for {
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
		if msg := r.parseRow(row, line); msg != "" {
			r.bad.add(r.at(msg))
			continue
		}
		r.rows++
		return true
	}
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
	if !r.ended && r.err == nil {
		warnings = append(warnings, fmt.Sprintf("%s: the recording was cut off after line %d; its %d whole rows are used", r.name, r.line, r.rows))
	}
	return warnings
}

func (r *Reader) at(msg string) error { return &SyntaxError{r.name, r.line, msg} }

func (r *Reader) readVersion() error {
	line, err := r.readLine()
	if errors.Is(err, io.EOF) && r.line == 0 && len(line) == 0 {
		return fmt.Errorf("%s: empty: there is no trace in it", r.name)
	}
	text, ok := strings.CutPrefix(string(line), magic)
	if !ok {
		return &SyntaxError{r.name, 1, fmt.Sprintf("not a tickmark trace: want %q first, got %s", magic+"1", clip(line))}
	}
	if strings.HasSuffix(text, "\r") {
		return &SyntaxError{r.name, 1, "lines end in CR LF: a trace has LF alone (tr -d '\\r' mends it)"}
	}
	version, err := strconv.Atoi(text)
	if err != nil || version < 1 {
		return &SyntaxError{r.name, 1, fmt.Sprintf("version %q: want a whole number", text)}
	}
	if version > Version {
		return &SyntaxError{r.name, 1, fmt.Sprintf("version %d is newer than this tickmark reads (%d)", version, Version)}
	}
	return nil
}

func (r *Reader) readHeader() error {
	for {
		line, err := r.readLine()
		if errors.Is(err, io.EOF) {
			return r.at("cut off within the header: there are no rows")
		} else if err != nil {
			return err
		}
		if bytes.IndexByte(line, '\t') >= 0 {
			r.header.Extra = strings.Split(string(line), "\t")
			break
		}
		f, ok := parseField(string(line))
		if !ok {
			return r.at(fmt.Sprintf("%s: want \"key: value\" or the column names", clip(line)))
		}
		r.header.Set(f.Key, f.Value)
	}
	return r.splitColumns()
}

// splitColumns leaves in the header only those of the file's columns that its kind
// does not know.
func (r *Reader) splitColumns() error {
	row, ok := NewRow(r.header.Kind())
	if !ok {
		return r.at(fmt.Sprintf("kind %q: this version has no rows for it", r.header.Kind()))
	}
	names := r.header.Extra
	r.header.Extra = nil
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || name == "" {
			return r.at(fmt.Sprintf("column %q stands twice or is empty", name))
		}
		seen[name] = true
		r.known = append(r.known, slices.Index(row.columns(), name))
		if r.known[len(r.known)-1] < 0 {
			r.header.Extra = append(r.header.Extra, name)
		}
	}
	for _, name := range row.columns() {
		if !seen[name] && !mayMiss(name) {
			return r.at(fmt.Sprintf("column %q is missing", name))
		}
	}
	return nil
}

// mayMiss names the columns that a hand-made trace may leave out.
func mayMiss(column string) bool {
	return slices.Contains([]string{"status", "stall", "inflight", "size", "cause", "why", "reference"}, column)
}

// bind checks that the trace's rows can be read into rows of this kind.
func (r *Reader) bind(row Row) bool {
	have, want := r.header.Kind(), row.Kind()
	if have != want && !(have == Exchanges && want == RTT) {
		r.err = fmt.Errorf("%s: holds rows of kind %q; want %q here", r.name, have, want)
		return false
	}
	r.limit = len(row.columns())
	return true
}

func (r *Reader) parseRow(row Row, line []byte) string {
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

// readTrailer takes a "# key: value" line into the header.
func (r *Reader) readTrailer(line []byte) {
	f, ok := parseField(strings.TrimPrefix(string(line), "# "))
	switch {
	case !ok:
	case f.Key == "end":
		r.ended = true
	case f.Key != KeyKind:
		r.header.Set(f.Key, f.Value)
	}
}

// readLine returns the next whole line without its end, valid until the next call.
// A line without an end is not whole: it is io.EOF. An overlong line is a
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
		return nil, r.broken(err)
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
