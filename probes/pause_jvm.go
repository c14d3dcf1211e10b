package probes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// jvmWatcher sees the pauses that a Java virtual machine writes to its GC log while it
// is watched. A line comes at the end of a pause: the pause lies as far back from the
// moment the line was seen as the log itself says.
type jvmWatcher struct {
	least time.Duration
	file  followed
	log   datasets.GCLog
	seen  datasets.Instant // when the last line was
	width time.Duration    // how long nobody had looked then
	bad   int64
}

// logResolution is what a GC log's times are cut to.
const logResolution = time.Millisecond

// logPeriod is the least time between two looks at the log, and logSilence that without
// a line after which nothing more is expected of a collection.
const (
	logPeriod  = 10 * time.Millisecond
	logSilence = time.Second
)

func bindJVMWatcher(o pauseOptions) (watcher, error) {
	if o.log == "" {
		return nil, errors.New("of=jvm: which? Give log=FILE, the JVM's GC log (-Xlog:gc*,safepoint:file=FILE)")
	}
	return &jvmWatcher{least: o.least, file: followed{pattern: o.log}}, nil
}

func (*jvmWatcher) columns() []string { return append(datasets.GCLogColumns(), "error_ns") }
func (w *jvmWatcher) close()          { w.file.close() }

// open reads what stands at the end of the log already, to know what kind it is, and
// takes no pause of it.
func (w *jvmWatcher) open(_ context.Context, s schedule) ([]datasets.Field, error) {
	w.log, w.bad = datasets.GCLog{}, 0
	if err := w.file.open(); err != nil {
		return nil, fmt.Errorf("of=jvm: %w", err)
	}
	if err := w.file.more(func(line []byte) { _ = w.log.Line(line) }); err != nil {
		w.close()
		return nil, fmt.Errorf("of=jvm: %w", err)
	}
	w.log.Flush()
	for more := true; more; { // they were before
		_, more = w.log.Next()
	}
	return []datasets.Field{
		{Key: "watched", Value: "GC log " + w.file.pattern},
		{Key: datasets.KeySchedule, Value: patient(s).String()},
		timerFact(),
		duration("resolution", logResolution),
	}, nil
}

// patient returns the schedule by which the log is looked at.
func patient(s schedule) schedule {
	s.interval = max(s.interval, logPeriod)
	return s
}

func (w *jvmWatcher) watch(ctx context.Context, s schedule, epoch time.Time, seen chan<- datasets.Pause) ([]datasets.Field, error) {
	var looks readings
	start := time.Now()
	w.seen = datasets.Instant(start.Sub(epoch))
	now := w.seen
	err := looks.each(ctx, patient(s), start, func(datasets.Instant, time.Duration) error {
		before := now
		now = datasets.Instant(time.Since(epoch))
		return w.look(before, now, seen)
	})
	if err != nil {
		return nil, err
	}
	w.log.Flush()
	w.send(seen)
	trailer := append(looks.fields(), count("looks", looks.late.n), count("rotations", w.file.rotations), count("bad-lines", w.bad))
	trailer = append(trailer, datasets.Field{Key: "source", Value: w.log.Dialect()})
	if doubts := w.log.Doubts(); len(doubts) > 0 {
		trailer = append(trailer, datasets.Field{Key: datasets.KeyImportWarnings, Value: strings.Join(doubts, "; ")})
	}
	if span := time.Since(start); span > 0 {
		trailer = append(trailer, duration(datasets.KeyObserved, span))
	}
	return trailer, nil
}

// look takes the lines that have come since the look before.
func (w *jvmWatcher) look(before, now datasets.Instant, seen chan<- datasets.Pause) error {
	lines := 0
	err := w.file.more(func(line []byte) {
		lines++
		if w.log.Line(line) != nil {
			w.bad++
		}
	})
	if err != nil {
		return fmt.Errorf("of=jvm: %w", err)
	}
	switch {
	case lines > 0:
		w.seen, w.width = now, now.Sub(before)
	case now.Sub(w.seen) > logSilence:
		w.log.Flush()
	}
	w.send(seen)
	return nil
}

// send hands over the pauses that are whole.
func (w *jvmWatcher) send(seen chan<- datasets.Pause) {
	written, _ := w.log.Now()
	for p := range w.log.Pauses() {
		if p.Length < w.least {
			continue
		}
		p.At = w.seen.Add(p.At.Sub(written))
		p.Extra += "\t" + strconv.FormatInt(int64(w.width+logResolution), 10)
		seen <- p
	}
}
