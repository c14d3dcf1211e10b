package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"time"
)

// gcDialect reads the garbage collection log of a Java virtual machine: the unified one
// of JDK 9 and later (-Xlog:gc*,safepoint) and the older ones (-XX:+PrintGCDetails,
// -XX:+PrintGCApplicationStoppedTime). Its rows are the times in which all threads
// of the application stood still.
type gcDialect struct{ log GCLog }

func bindGCLog(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isGCLog, byLine(func() dialect { return &gcDialect{} }))(fs)
}

func isGCLog(head []byte) bool {
	for line := range bytes.Lines(head) {
		if l := newGCLine(line); l.ofGC() {
			return true
		}
	}
	return false
}

func (d *gcDialect) line(text []byte, out *rows) error {
	err := d.log.Line(text)
	d.put(out)
	return err
}

// end hands over what was held back: nothing follows that it might belong to.
func (d *gcDialect) end(out *rows) error {
	d.log.Flush()
	d.put(out)
	s := d.series(out)
	s.Header.Set(KeySource, d.log.Dialect())
	if d.log.collector != "" {
		s.Header.Set("collector", d.log.collector)
	}
	if epoch, ok := d.log.clock.epoch(); ok {
		s.Header.SetEpoch(epoch)
	}
	if span := d.log.clock.span(); span > 0 {
		s.Header.SetDuration(KeyObserved, span)
	}
	s.Header.SetDuration("resolution", time.Millisecond)
	for _, doubt := range d.log.Doubts() {
		out.say("%s", doubt)
	}
	return nil
}

func (d *gcDialect) series(out *rows) *Series {
	s, first := out.of(nil, Pauses, "gc log")
	if first {
		s.Header.Extra = GCLogColumns()
	}
	return s
}

func (d *gcDialect) put(out *rows) {
	for p, ok := d.log.Next(); ok; p, ok = d.log.Next() {
		*out.pause(d.series(out)) = p
	}
}

// GCLogColumns names the cells that a GC log's pauses have beside their own: the number
// of the collection, and how long it took until all threads stood still, which is part
// of the length.
func GCLogColumns() []string { return []string{"gc", "reaching_ns"} }

// Doubts says what a user must know of what was read.
func (g *GCLog) Doubts() []string {
	var doubts []string
	doubt := func(n int64, one, many string) {
		if n == 1 {
			doubts = append(doubts, "1 "+one)
		} else if n > 1 {
			doubts = append(doubts, fmt.Sprintf(many, n))
		}
	}
	if g.merge.told > 0 && g.merge.stops != stopsTold {
		doubts = append(doubts, "the log has no safepoint lines: the way to a stop is not in its length, and stops for other reasons than collection are not told (log safepoint too, or -XX:+PrintGCApplicationStoppedTime)")
	}
	doubt(g.clock.restarts, "restart of the JVM in the log: what went on between is not known", "%d restarts of the JVM in the log: what went on between is not known")
	doubt(g.stalls, "stall held up a single thread and is no pause of the process", "%d stalls held up single threads and are no pauses of the process, the longest "+g.stalled.String())
	return doubts
}

// Dialect says what kind of log it is, as far as known.
func (g *GCLog) Dialect() string {
	if g.unified {
		return "gc log, unified (JDK 9 or later)"
	}
	return "gc log (JDK 8 or earlier)"
}

// ofGC reports whether a line can only be of a GC log.
func (l *gcLine) ofGC() bool {
	if l.unified {
		return strings.HasPrefix(l.tags, "gc") || strings.HasPrefix(l.tags, "safepoint") || bytes.HasPrefix(l.text, []byte("GC("))
	}
	for _, begin := range []string{"Java HotSpot(TM) ", "OpenJDK 64-Bit Server VM (", "CommandLine flags: -XX:"} {
		if bytes.HasPrefix(l.text, []byte(begin)) {
			return true
		}
	}
	timed := l.hasUptime || !l.wall.IsZero()
	return timed && (bytes.HasPrefix(l.text, []byte("[GC")) || bytes.HasPrefix(l.text, []byte("[Full GC")) ||
		bytes.HasPrefix(l.text, []byte(oldStop)) || bytes.HasPrefix(l.text, []byte("Application time: ")))
}
