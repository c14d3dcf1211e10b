package datasets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A jsonDoc reads JSON documents of any size, one behind the other, an element at a time:
// what stands at a path that is wanted is decoded, the rest passed over.
type jsonDoc struct {
	name  string
	dec   *json.Decoder
	guard *elementGuard
	path  []string // of the value that comes next; "[]" is an element of an array
	open  []json.Delim
	read  jsonReader
	ended bool
}

// jsonReader is what one kind of document is to its importer.
type jsonReader interface {
	// wants returns what reads the value at a path, or nil.
	wants(path []string) func(raw json.RawMessage, out *rows) error
	// end is told that nothing follows, be it that the document is broken.
	end(out *rows) error
}

// mostElement is how long a value that is decoded in one piece may be.
const mostElement = 16 << 20

// elementGuard ends a file in which one value is longer than that, which bounds memory.
type elementGuard struct {
	r    io.Reader
	dec  *json.Decoder
	read int64
}

var errLongElement = fmt.Errorf("a value of more than %d bytes", mostElement)

func (g *elementGuard) Read(p []byte) (int, error) {
	if g.dec != nil && g.read-g.dec.InputOffset() > mostElement {
		return 0, errLongElement
	}
	n, err := g.r.Read(p)
	g.read += int64(n)
	return n, err
}

func bindJSON(is func(head []byte) bool, begin func() jsonReader) func(*flag.FlagSet) func() (Format, error) {
	return bindForeign(is, func(name string, r *bufio.Reader) importer {
		d := &jsonDoc{name: name, guard: &elementGuard{r: r}, read: begin()}
		d.dec = json.NewDecoder(d.guard)
		d.guard.dec = d.dec
		d.dec.UseNumber()
		return d
	})
}

// isJSON reports whether a head begins an object or an array and has all of these keys.
func isJSON(head []byte, keys ...string) bool {
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[' {
		return false
	}
	return !slices.ContainsFunc(keys, func(key string) bool { return !bytes.Contains(head, []byte(`"`+key+`"`)) })
}

func (d *jsonDoc) next(out *rows) error {
	for !d.ended {
		done, err := d.step(out)
		if err != nil || done {
			return err
		}
	}
	return io.EOF
}

// step reads one token or one wanted value, and reports whether it was the latter.
func (d *jsonDoc) step(out *rows) (done bool, err error) {
	if depth := len(d.open); depth > 0 && !d.dec.More() {
		if _, err := d.dec.Token(); err != nil {
			return false, d.broken(err, out)
		}
		d.open = d.open[:depth-1]
		d.leave()
		return false, nil
	}
	if err := d.enter(); err != nil {
		return false, d.broken(err, out)
	}
	if take := d.read.wants(d.path); take != nil {
		var raw json.RawMessage
		if err := d.dec.Decode(&raw); err != nil {
			return false, d.broken(err, out)
		}
		d.leave()
		if err := take(raw, out); err != nil {
			return true, &SyntaxError{d.name, 0, fmt.Sprintf("byte %d: %v", d.dec.InputOffset(), plainJSON(err))}
		}
		return true, nil
	}
	token, err := d.dec.Token()
	if err != nil {
		return false, d.broken(err, out)
	}
	if delim, opens := token.(json.Delim); opens {
		d.open = append(d.open, delim)
	} else {
		d.leave()
	}
	return false, nil
}

// enter notes which value comes next.
func (d *jsonDoc) enter() error {
	if len(d.open) == 0 {
		return nil
	}
	if d.open[len(d.open)-1] == '[' {
		d.path = append(d.path, "[]")
		return nil
	}
	key, err := d.dec.Token()
	if err != nil {
		return err
	}
	name, _ := key.(string)
	d.path = append(d.path, name)
	return nil
}

func (d *jsonDoc) leave() {
	if n := len(d.path); n > 0 {
		d.path = d.path[:n-1]
	}
}

// broken ends the file: behind a fault no value can be found again.
func (d *jsonDoc) broken(err error, out *rows) error {
	d.ended = true
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if len(d.open) > 0 || errors.Is(err, io.ErrUnexpectedEOF) {
			out.say("the document is cut off")
		}
		if err := d.read.end(out); err != nil {
			return &SyntaxError{d.name, 0, err.Error()}
		}
		return nil
	}
	if err := d.read.end(out); err != nil {
		return &SyntaxError{d.name, 0, err.Error()}
	}
	return &SyntaxError{d.name, 0, fmt.Sprintf("byte %d: %v; what follows is not read", d.dec.InputOffset(), plainJSON(err))}
}

// plainJSON leaves out what only a programmer knows of an error.
func plainJSON(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: a %s is not what belongs there", wrong.Field, wrong.Value)
	}
	return err
}

// at reports whether a path is that of the pattern, in which * is any one step.
func at(path []string, pattern ...string) bool {
	return slices.EqualFunc(path, pattern, func(is, want string) bool { return want == "*" || is == want })
}

// decimalOf is a number of a document, in quotes or not, in its own digits.
type decimalOf string

func (d *decimalOf) UnmarshalJSON(b []byte) error {
	*d = decimalOf(strings.Trim(string(b), `"`))
	if *d == "null" {
		*d = ""
	}
	return nil
}

func (d decimalOf) nanos(unit time.Duration) (time.Duration, error) {
	return parseNanos([]byte(d), unit)
}

// span reads a time that must not be negative.
func (d decimalOf) span(unit time.Duration) (time.Duration, error) {
	v, err := d.nanos(unit)
	if err == nil && v < 0 {
		return 0, fmt.Errorf("%q: must not be negative", string(d))
	}
	return v, err
}

// since1970 returns a wall time, if it is one that nanoseconds can hold.
func since1970(t time.Time) (time.Duration, error) {
	if y := t.Year(); y < 1970 || y > 2200 {
		return 0, fmt.Errorf("time %q: want one since 1970", t.Format(time.RFC3339))
	}
	return time.Duration(t.UnixNano()), nil
}
