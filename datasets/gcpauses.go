package datasets

import (
	"bytes"
	"errors"
	"iter"
	"strconv"
	"strings"
	"time"
)

// GCLog finds the pauses in the lines of a JVM's garbage collection log, one after
// another, so that a log can be followed while it grows. The zero value is ready.
type GCLog struct {
	clock     gcClock
	record    gcRecord
	merge     gcMerge
	unified   bool
	collector string
	stalls    int64 // of single threads
	stalled   time.Duration
}

// errNoTime is of a log in which no line says when.
var errNoTime = errors.New("a pause, and no line up to here says when: log with uptimes (-Xlog:…:uptime, -XX:+PrintGCTimeStamps)")

// Line takes the next line. An error says why a line that tells of a pause could not be
// read; the next may be.
func (g *GCLog) Line(line []byte) error {
	l := newGCLine(line)
	at, known := g.clock.place(&l)
	if tooFar(at) {
		return far("time", int64(at))
	}
	g.unified = g.unified || l.unified
	e, found, err := g.event(&l, at)
	switch {
	case err != nil || !found:
		return err
	case !known:
		return errNoTime
	}
	if err := e.check(); err != nil {
		return err
	}
	if e.stop {
		g.merge.stop(e)
	} else {
		g.merge.collection(e)
	}
	return nil
}

// Next returns a pause that is known to be whole. A collection is held back until the
// safepoint line behind it has come, which tells of the same stop.
func (g *GCLog) Next() (Pause, bool) { return g.merge.next() }

// Pauses yields the pauses that are known to be whole.
func (g *GCLog) Pauses() iter.Seq[Pause] {
	return func(yield func(Pause) bool) {
		for {
			if p, ok := g.Next(); !ok || !yield(p) {
				return
			}
		}
	}
}

// Flush gives up waiting: what is held back is whole.
func (g *GCLog) Flush() { g.merge.flush() }

// Now returns when the last line was written, on the axis of the pauses, and false if
// no line has said when.
func (g *GCLog) Now() (Instant, bool) { return g.clock.now, g.clock.known }

// event is a stop, or the collection that was made in one.
func (g *GCLog) event(l *gcLine, at Instant) (e gcEvent, found bool, err error) {
	if !l.unified {
		if i := bytes.Index(l.text, []byte(oldStop)); i >= 0 {
			return parseOldStop(l.text[i+len(oldStop):], at)
		}
		return g.record.line(l, at)
	}
	if text, found := bytes.CutPrefix(l.text, []byte(oldStop)); found {
		return parseOldStop(text, at)
	}
	if text, found := bytes.CutPrefix(l.text, []byte("Safepoint \"")); found {
		return parseSafepoint(text, at)
	}
	if text, found := bytes.CutPrefix(l.text, []byte("Using ")); found && l.tags == "gc" && g.collector == "" {
		g.collector = string(text)
	}
	number, text := cutCollection(l.text)
	if length, stall := parseStall(text); stall {
		g.stalls++
		g.stalled = max(g.stalled, length)
	}
	name, length, found := parsePause(text)
	return gcEvent{at: at.Add(-length), length: length, cause: name, number: number, reaching: -1}, found, nil
}

// gcEvent is one pause as one line tells it.
type gcEvent struct {
	at       Instant // its beginning
	length   time.Duration
	cause    string
	number   string        // of the collection
	reaching time.Duration // until all threads stood still; −1 unknown
	stop     bool          // told by a safepoint line
}

func (e *gcEvent) end() Instant { return e.at.Add(e.length) }

func (e *gcEvent) check() error {
	p := e.pause()
	return p.check()
}

func (e *gcEvent) pause() Pause {
	number, reaching := e.number, "-"
	if number == "" {
		number = "-"
	}
	if e.reaching >= 0 {
		reaching = strconv.FormatInt(int64(e.reaching), 10)
	}
	return Pause{At: e.at, Length: e.length, Cause: e.cause, Extra: number + "\t" + reaching}
}

// cutCollection takes "GC(12) " off the front of a text, and the generation of the
// generational ZGC, "Y: ".
func cutCollection(text []byte) (number string, rest []byte) {
	after, found := bytes.CutPrefix(text, []byte("GC("))
	inside, rest, closed := bytes.Cut(after, []byte(") "))
	if !found || !closed || !allDigits(inside) {
		return "", text
	}
	if len(rest) > 3 && rest[1] == ':' && rest[2] == ' ' && strings.IndexByte("YyO", rest[0]) >= 0 {
		rest = rest[3:]
	}
	return string(inside), rest
}

// parsePause reads "Pause Young (Normal) (G1 Evacuation Pause) 14M->12M(128M) 7.033ms".
// A line without the length says that one begins.
func parsePause(text []byte) (name string, length time.Duration, found bool) {
	if !bytes.HasPrefix(text, []byte("Pause ")) {
		return "", 0, false
	}
	i := bytes.LastIndexByte(text, ' ')
	length, found = parseMillis(text[i+1:])
	name = string(text[:i])
	if j := strings.LastIndexByte(name, ' '); j > 0 && strings.Contains(name[j:], "->") {
		name = name[:j]
	}
	return plainCause(name), length, found
}

// parseStall reads "Allocation Stall (main) 0.706ms", which holds up one thread.
func parseStall(text []byte) (time.Duration, bool) {
	if !bytes.HasPrefix(text, []byte("Allocation Stall (")) && !bytes.HasPrefix(text, []byte("Relocation Stall (")) {
		return 0, false
	}
	return parseMillis(text[bytes.LastIndexByte(text, ' ')+1:])
}

func parseMillis(text []byte) (time.Duration, bool) {
	number, found := bytes.CutSuffix(text, []byte("ms"))
	if !found || len(number) == 0 || len(number) > 30 || number[0] == '-' {
		return 0, false
	}
	d, err := parseDecimal(strings.Replace(string(number), ",", ".", 1), time.Millisecond)
	return d, err == nil && d <= farthest
}

// oldStop begins the line that tells of a stop, up to JDK 12.
const oldStop = "Total time for which application threads were stopped: "

// parseOldStop reads "0.0072168 seconds, Stopping threads took: 0.0000337 seconds", of
// which the first includes the second.
func parseOldStop(text []byte, at Instant) (gcEvent, bool, error) {
	number, rest, _ := bytes.Cut(text, []byte(" seconds"))
	length, ok := parseSeconds(number)
	if !ok {
		return gcEvent{}, false, errors.New(clip(text) + ": want how many seconds the threads were stopped")
	}
	e := gcEvent{at: at.Add(-length), length: length, cause: "safepoint", reaching: -1, stop: true}
	if rest, found := bytes.CutPrefix(rest, []byte(", Stopping threads took: ")); found {
		number, _, _ = bytes.Cut(rest, []byte(" seconds"))
		if reaching, ok := parseSeconds(number); ok && reaching <= length {
			e.reaching = reaching
		}
	}
	return e, true, nil
}

// parseSafepoint reads what stands behind the first quote of Safepoint
// "G1CollectForAllocation", Time since last: 11665 ns, Reaching safepoint: 390 ns,
// At safepoint: 1023 ns, Total: 1413 ns (JDK 13 and later).
func parseSafepoint(text []byte, at Instant) (gcEvent, bool, error) {
	operation, rest, closed := bytes.Cut(text, []byte{'"'})
	length, ok := nanosOf(rest, ", Total: ")
	if !closed || !ok {
		return gcEvent{}, false, errors.New(clip(text) + ": want a safepoint's name and its total")
	}
	e := gcEvent{at: at.Add(-length), length: length, cause: plainCause("safepoint " + string(operation)), reaching: -1, stop: true}
	if reaching, ok := nanosOf(rest, ", Reaching safepoint: "); ok && reaching <= length {
		e.reaching = reaching
	}
	return e, true, nil
}

// nanosOf reads the whole number of ns behind a label.
func nanosOf(text []byte, label string) (d time.Duration, ok bool) {
	_, after, found := bytes.Cut(text, []byte(label))
	number, _, _ := bytes.Cut(after, []byte(" ns"))
	return d, found && parseInt(&d, number) == nil && d >= 0 && d <= farthest
}

// plainCause is text that stands in a cell as it is, and never for nothing.
func plainCause(text string) string {
	text = strings.Map(func(r rune) rune {
		if notPlain(r) || r == '\t' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	return strings.Join(strings.Fields(text), " ")
}
