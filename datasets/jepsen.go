package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"
)

// The history of a Jepsen test (EDN): an operation of a process is invoked and then is ok,
// fails or, if nobody knows, is info, which is one that was never answered. Times are
// nanoseconds since the test began. One series a function.
func bindJepsen(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isJepsen, func(name string, r *bufio.Reader) importer {
		return &jepsen{name: name, r: r, open: map[string]operation{}}
	})(fs)
}

func isJepsen(head []byte) bool {
	text := bytes.TrimLeft(head, " \t\r\n([")
	return bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte(":type :invoke")) && bytes.Contains(text, []byte(":process "))
}

type jepsen struct {
	name  string
	r     *bufio.Reader
	line  int64
	open  map[string]operation // by process
	ended bool
}

// operation is one that was invoked and has not ended.
type operation struct {
	function string
	at       time.Duration
}

// mostOpen is how many processes may wait at a time.
const mostOpen = 1 << 16

func (j *jepsen) place() int64 { return j.line + 1 }

func (j *jepsen) next(out *rows) error {
	if j.ended {
		return io.EOF
	}
	text, err := j.entry()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		j.ended = true
		if len(bytes.TrimSpace(text)) > 0 {
			out.say("the last operation is cut off")
		}
		for range j.open {
			out.count("1 operation was invoked and never ended: it is timed out", "%d operations were invoked and never ended: they are timed out")
		}
		j.flush(out)
		return nil
	case err != nil:
		return err
	}
	if err := j.take(text, out); err != nil {
		return &SyntaxError{j.name, j.line + 1, err.Error()}
	}
	return nil
}

// entry returns the next map, braces included.
func (j *jepsen) entry() ([]byte, error) {
	var text []byte
	var inside ednNesting
	for {
		c, err := j.r.ReadByte()
		if err != nil {
			return text, err
		}
		if c == '\n' {
			j.line++
		}
		before := inside.depth
		inside.read(c)
		switch {
		case before == 0 && inside.depth == 0: // between two
			inside = ednNesting{}
		case len(text) < maxLine:
			text = append(text, c)
		}
		if before == 1 && inside.depth == 0 {
			return text, nil
		}
	}
}

// ednNesting is in how many maps the reader is, and whether in a string.
type ednNesting struct {
	depth           int
	quoted, escaped bool
}

func (n *ednNesting) read(c byte) {
	switch {
	case n.escaped:
		n.escaped = false
	case n.quoted && c == '\\':
		n.escaped = true
	case c == '"':
		n.quoted = !n.quoted
	case !n.quoted && c == '{':
		n.depth++
	case !n.quoted && c == '}':
		n.depth = max(n.depth-1, 0)
	}
}

func (j *jepsen) take(text []byte, out *rows) error {
	if len(text) >= maxLine {
		return fmt.Errorf("an operation of more than %d bytes", maxLine)
	}
	kind, process, function := ednWord(text, ":type"), ednWord(text, ":process"), ednWord(text, ":f")
	at, err := parseNanos([]byte(ednWord(text, ":time")), 1)
	switch {
	case process == ":nemesis" || process == "":
		return nil
	case err != nil || at < 0:
		return fmt.Errorf(":time %q: want nanoseconds", ednWord(text, ":time"))
	case kind == ":invoke":
		if len(j.open) == mostOpen {
			return errors.New("too many processes have an operation open")
		}
		if _, twice := j.open[process]; twice {
			return fmt.Errorf("process %s invokes while another operation of it is open", process)
		}
		j.open[process] = operation{function, at}
		return nil
	}
	op, invoked := j.open[process]
	if !invoked {
		return fmt.Errorf("process %s: %s of an operation that it has not invoked", process, kind)
	}
	delete(j.open, process)
	return j.put(op, kind, at-op.at, out)
}

func (j *jepsen) put(op operation, kind string, took time.Duration, out *rows) error {
	outcome := Replied
	switch kind {
	case ":ok", ":fail":
	case ":info":
		outcome = TimedOut
	default:
		return fmt.Errorf(":type %q: want :invoke, :ok, :fail or :info", kind)
	}
	if took < 0 {
		return errors.New("the operation ended before it began")
	}
	s, first := out.of(bytes.TrimPrefix([]byte(op.function), []byte(":")), RTT, "Jepsen history")
	if first {
		s.Header.Extra = []string{"type"}
		s.Header.Set("times", "since the test began")
	}
	row := out.sample(s)
	row.Due, row.Outcome, row.Extra = Instant(op.at), outcome, kind[1:]
	row.Sent = row.Due
	if outcome == Replied {
		row.Elapsed = took
	} else {
		row.Copies = 0
	}
	return nil
}

// flush ends what is still open.
func (j *jepsen) flush(out *rows) {
	for process, op := range j.open {
		_ = j.put(op, ":info", 0, out) // an info cannot be wrong
		delete(j.open, process)
	}
}

// ednWord returns the word behind a key of a map, in its first level or not.
func ednWord(text []byte, key string) string {
	for rest := text; ; {
		i := bytes.Index(rest, []byte(key))
		if i < 0 {
			return ""
		}
		rest = rest[i+len(key):]
		if len(rest) == 0 || rest[0] != ' ' && rest[0] != '\n' && rest[0] != '\t' {
			continue // the beginning of a longer key
		}
		word := bytes.TrimLeft(rest, " \t\r\n,")
		end := bytes.IndexAny(word, " \t\r\n,}")
		if end < 0 {
			end = len(word)
		}
		return string(word[:end])
	}
}
