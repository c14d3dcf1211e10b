package datasets

import (
	"fmt"
	"strings"
)

// ending is how a recording ended, as far as it has been read.
type ending struct {
	seen    bool  // the end line was
	claimed int64 // rows that it counts
	after   int64 // rows behind it
	another int64 // the line on which another trace begins, or 0
}

// readTrailer takes a "# key: value" line into the header.
func (r *Reader) readTrailer(line []byte) {
	f, ok := parseField(strings.TrimPrefix(string(line), "# "))
	if !ok || f.Key == KeyKind {
		return
	}
	if f.Key == "end" {
		if err := parseInt(&r.end.claimed, []byte(f.Value)); err != nil {
			r.bad.add(r.at("end " + err.Error()))
			return
		}
		r.end.seen = true
		return
	}
	if _, known := r.header.Value(f.Key); !known && len(r.header.fields) >= maxFields {
		r.bad.add(r.at(fmt.Sprintf("more than %d header lines", maxFields)))
		return
	}
	r.header.Set(f.Key, f.Value)
}

// endWarnings says what is wrong with how the recording ended.
func (r *Reader) endWarnings() []string {
	var warnings []string
	warn := func(format string, args ...any) {
		warnings = append(warnings, r.name+": "+fmt.Sprintf(format, args...))
	}
	before := r.rows - r.end.after
	switch {
	case !r.end.seen && r.rows == 1:
		warn("the recording was cut off after line %d; its 1 whole row is used", r.lastLine())
	case !r.end.seen:
		warn("the recording was cut off after line %d; its %d whole rows are used", r.lastLine(), r.rows)
	case r.end.claimed < before || r.end.claimed > before+r.bad.count:
		warn("the end line says %s, but %s: the file was changed", rowsAre(r.end.claimed, "was written", "were written"), rowsAre(before, "was read", "were read"))
	}
	if r.end.after > 0 {
		warn("%s: are these several traces in one file?", rowsAre(r.end.after, "follows the end line and is used", "follow the end line and are used"))
	}
	if r.end.another > 0 {
		warn("line %d: another trace begins here and is not read: tickmark reads one trace a file", r.end.another)
	}
	return warnings
}

// lastLine is the last line that belongs to the trace.
func (r *Reader) lastLine() int64 {
	if r.end.another > 0 {
		return r.end.another - 1
	}
	return r.line
}

// imported begins the warning that hands on those of the import.
const imported = "imported with a warning: "

// headerWarnings says what in the header a user must know of.
func (r *Reader) headerWarnings() []string {
	var warnings []string
	if of := r.header.Text(KeyImportWarnings); of != "" {
		// An import of an import says so once.
		warnings = append(warnings, r.name+": "+imported+strings.ReplaceAll(of, imported, ""))
	}
	for _, doubt := range r.header.doubts() {
		warnings = append(warnings, r.name+": "+doubt)
	}
	return warnings
}

func rowsAre(n int64, one, many string) string {
	if n == 1 {
		return "1 row " + one
	}
	return fmt.Sprintf("%d rows %s", n, many)
}
