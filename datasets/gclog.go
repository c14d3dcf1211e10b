package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// gcFormat reads the garbage collection log of a Java virtual machine: the unified one
// of JDK 9 and later (-Xlog:gc*,safepoint) and the older ones (-XX:+PrintGCDetails,
// -XX:+PrintGCApplicationStoppedTime). Its rows are the times in which all threads
// of the application stood still.
type gcFormat struct{}

func bindGCLog(*flag.FlagSet) func() (Format, error) {
	return func() (Format, error) { return gcFormat{}, nil }
}

func (gcFormat) Recognise(head []byte) bool {
	for line := range bytes.Lines(head) {
		if l := newGCLine(line); l.ofGC() {
			return true
		}
	}
	return false
}

func (gcFormat) Open(name string, r io.Reader) (Stream, error) {
	s := &gcStream{name: name, r: bufio.NewReaderSize(r, maxLine), header: &Header{Extra: GCLogColumns()}}
	s.header.Set(KeyKind, string(Pauses))
	s.header.Set(KeyTarget, name)
	return s, nil
}

// gcStream is the pauses of a log that has an end.
type gcStream struct {
	name   string
	r      *bufio.Reader
	header *Header
	log    GCLog
	line   int64
	bad    badLines
	rows   int64
	ended  bool
	err    error
}

func (s *gcStream) Header() *Header { return s.header }

func (s *gcStream) Next(row Row) bool {
	pause, ok := row.(*Pause)
	if !ok {
		s.err = fmt.Errorf("%s: holds rows of kind %q; want %q here", s.name, Pauses, row.Kind())
	}
	for s.err == nil {
		if *pause, ok = s.log.Next(); ok {
			s.rows++
			return true
		}
		if s.ended || !s.more() && s.err != nil {
			break
		}
	}
	return false
}

// more reads a line. At the end of the log nothing follows that what was held back
// might belong to.
func (s *gcStream) more() bool {
	line, long, err := s.read()
	if len(line) > 0 {
		s.line++
		if wrong := s.log.Line(line); wrong != nil {
			s.bad.add(&SyntaxError{s.name, s.line, wrong.Error()})
		}
		if long {
			s.bad.add(&SyntaxError{s.name, s.line, fmt.Sprintf("a line of more than %d bytes", maxLine)})
		}
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		s.ended = true
		s.log.Flush()
		s.finish()
	case err != nil:
		s.err = fmt.Errorf("%s:%d: %w", s.name, s.line+1, err)
	}
	return err == nil
}

// read returns a line, or the beginning of one that is too long.
func (s *gcStream) read() (line []byte, long bool, err error) {
	line, err = s.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, false, err
	}
	line = bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = s.r.ReadSlice('\n')
	}
	return line, true, err
}

// finish writes down what the log told of itself.
func (s *gcStream) finish() {
	s.header.Set("source", s.log.Dialect())
	if s.log.collector != "" {
		s.header.Set("collector", s.log.collector)
	}
	if epoch, ok := s.log.clock.epoch(); ok {
		s.header.SetEpoch(epoch)
	}
	if span := s.log.clock.span(); span > 0 {
		s.header.SetDuration(KeyObserved, span)
	}
	s.header.SetDuration("resolution", time.Millisecond)
}

func (s *gcStream) Err() error {
	if s.err == nil && s.rows == 0 && s.bad.count > 0 {
		return s.bad.first[0]
	}
	return s.err
}

func (s *gcStream) Warnings() []string {
	warnings := s.bad.warnings(s.name)
	for _, doubt := range s.log.Doubts() {
		warnings = append(warnings, s.name+": "+doubt)
	}
	return warnings
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
