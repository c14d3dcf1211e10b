package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxFields is the most lines a header may have: each costs a search through them.
const maxFields = 1000

func (r *Reader) readVersion() error {
	line, err := r.readLine()
	switch {
	case !errors.Is(err, io.EOF):
	case len(line) == 0:
		return fmt.Errorf("%s: empty: there is no trace in it", r.name)
	case strings.HasPrefix(magic, string(line)) || bytes.HasPrefix(line, []byte(magic)):
		return &SyntaxError{r.name, 1, "cut off within the first line: there are no rows"}
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
		if _, twice := r.header.Value(f.Key); twice {
			return r.at(fmt.Sprintf("key %q stands twice", f.Key))
		}
		if len(r.header.fields) == maxFields {
			return r.at(fmt.Sprintf("more than %d header lines", maxFields))
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

// mayMiss names the columns that a hand-made trace may leave out, and those that
// older versions did not write.
func mayMiss(column string) bool {
	return slices.Contains([]string{
		"status", "stall", "inflight", "size", "cause", "why", "reference",
		"correction_out", "correction_back", "utc_offset",
	}, column)
}
