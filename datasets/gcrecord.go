package datasets

import (
	"bytes"
	"errors"
	"strings"
	"time"
)

// gcRecord reads a collection as the log of JDK 8 and earlier writes it, which may go
// over many lines and hold other records:
//
//	1.053: [GC (Allocation Failure) 1.053: [ParNew: 2K->1K(3K), 0.0145 secs] 2K->1K(9K), 0.0147 secs]
//
// Its length stands before the bracket that closes it. Those of another thread that
// fall into it have brackets of their own.
type gcRecord struct {
	depth int // of open brackets; 0 is outside a record
	lines int
	at    Instant
	cause string
}

// mostLines is more than a record has, so that one that lost its end ends.
const mostLines = 1000

var errNoEnd = errors.New("a collection began before this line and its end was not found")

// line takes a line, and returns the collection that ended in it.
func (r *gcRecord) line(l *gcLine, at Instant) (e gcEvent, found bool, err error) {
	if begins(l.text) {
		if r.depth > 0 {
			err = errNoEnd
		}
		*r = gcRecord{at: at, cause: causeOf(l.text)}
	} else if r.depth == 0 {
		return e, false, nil
	}
	if r.lines++; r.lines > mostLines {
		*r = gcRecord{}
		return e, false, errNoEnd
	}
	for i, c := range l.text {
		switch c {
		case '[':
			r.depth++
		case ']':
			r.depth--
		}
		if r.depth == 0 {
			length, ok := lengthBefore(l.text[:i])
			if !ok {
				return e, false, errors.New(clip(l.text) + ": a collection without its length")
			}
			return gcEvent{at: r.at, length: length, cause: r.cause, reaching: -1}, true, err
		}
	}
	return e, false, err
}

// begins reports whether a text begins a record of a stop. A concurrent phase is none.
func begins(text []byte) bool {
	return bytes.HasPrefix(text, []byte("[Full GC")) || bytes.HasPrefix(text, []byte("[GC")) && !bytes.HasPrefix(text, []byte("[GC concurrent"))
}

// causeOf returns what stands before the first thing that is no name: another record,
// a time, a size.
func causeOf(text []byte) string {
	name := string(text[1:])
	if i := strings.IndexAny(name, "[,]"); i >= 0 {
		name = name[:i]
	}
	words := strings.Fields(name)
	for i, word := range words {
		if word[0] >= '0' && word[0] <= '9' {
			words = words[:i]
			break
		}
		// Another thread's time, glued to the word: (young)2012-02-24T03:50:08.554-0800:
		if at := strings.IndexByte(word, ')'); at >= 0 && at+1 < len(word) && word[at+1] >= '0' && word[at+1] <= '9' {
			words[i] = word[:at+1]
			words = words[:i+1]
			break
		}
	}
	return plainCause(strings.Join(words, " "))
}

// lengthBefore reads the seconds at the end of ", 0.0147 secs".
func lengthBefore(text []byte) (time.Duration, bool) {
	text, found := bytes.CutSuffix(text, []byte(" secs"))
	d, ok := parseSeconds(text[bytes.LastIndexByte(text, ' ')+1:])
	return d, found && ok
}
