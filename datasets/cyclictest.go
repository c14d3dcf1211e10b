package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"time"
)

// cyclictest's output, in microseconds, a series a thread: the histogram of -h, in which
// what is above its last bin is only counted, or a line for each wake (-v).
func bindCyclictest(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isCyclictest, byLine(func() dialect { return &cyclictest{} }))(fs)
}

type cyclictest struct {
	f         columns
	histogram bool
	bin       int64 // the last one
	overflow  []int64
	intervals map[string]time.Duration
}

func isCyclictest(head []byte) bool {
	if bytes.HasPrefix(head, []byte("# Histogram\n")) || bytes.HasPrefix(head, []byte("# Histogram\r\n")) || bytes.Contains(head, []byte("\n# Histogram\n")) {
		return true
	}
	return bytes.Contains(head, []byte("# /dev/cpu_dma_latency set to ")) && bytes.Contains(head, []byte(" Interval: "))
}

func (c *cyclictest) line(text []byte, out *rows) error {
	switch {
	case bytes.HasPrefix(text, []byte("# Histogram Overflows:")):
		return c.overflows(text)
	case bytes.HasPrefix(text, []byte("# Histogram Overflow at")):
		c.histogram = false
	case bytes.HasPrefix(text, []byte("# Histogram")):
		c.histogram = true
	case bytes.HasPrefix(text, []byte("Thread ")) && bytes.Contains(text, []byte(" Interval: ")):
		return c.interval(text)
	case len(text) == 0 || text[0] == '#':
	case c.histogram:
		return c.bins(text, out)
	case bytes.Count(text, []byte(":")) == 2 && text[0] == ' ':
		return c.wake(text, out)
	}
	return nil
}

// bins reads a line of the histogram: the microseconds, and a count for each thread.
func (c *cyclictest) bins(text []byte, out *rows) error {
	f := &c.f
	f.split(text)
	if f.n < 2 || f.n > len(f.cell) {
		return fmt.Errorf("%d columns: want microseconds and a count for each thread", f.n)
	}
	us := int64(f.whole(0))
	for thread := range f.n - 1 {
		count := f.whole(thread + 1)
		if f.err != nil {
			return f.err
		}
		if count == 0 {
			continue
		}
		b := out.bin(c.series(thread, Histograms, out))
		// It is cut off to whole microseconds.
		b.Low, b.High, b.Count = time.Duration(us)*time.Microsecond, Some(time.Duration(us+1)*time.Microsecond-1), int64(count)
	}
	c.bin = us
	return f.err
}

func (c *cyclictest) series(thread int, kind Kind, out *rows) *Series {
	s, first := out.of(fmt.Appendf(nil, "thread %d", thread), kind, "cyclictest")
	if first {
		s.Header.Set("latency", "from when a thread was to wake to when it did")
	}
	return s
}

// overflows reads how many were above the last bin.
func (c *cyclictest) overflows(text []byte) error {
	_, after, _ := bytes.Cut(text, []byte(":"))
	f := &c.f
	f.split(after)
	c.overflow = c.overflow[:0]
	for i := range min(f.n, len(f.cell)) {
		c.overflow = append(c.overflow, int64(f.whole(i)))
	}
	return f.err
}

func (c *cyclictest) end(out *rows) error {
	for thread, count := range c.overflow {
		if count <= 0 || c.bin <= 0 {
			continue
		}
		b := out.bin(c.series(thread, Histograms, out))
		b.Low, b.Count = time.Duration(c.bin+1)*time.Microsecond, count
		out.say("%d wakes of thread %d were later than the histogram goes: nothing is known of quantiles there (-h is to be greater)", count, thread)
	}
	return nil
}

// interval reads "Thread 0 Interval: 1500".
func (c *cyclictest) interval(text []byte) error {
	name, value, _ := strings.Cut(string(text), " Interval: ")
	us, err := parseNanos([]byte(strings.TrimSpace(value)), time.Microsecond)
	if err != nil || us < 0 {
		return fmt.Errorf("interval %q: want microseconds", value)
	}
	if c.intervals == nil {
		c.intervals = map[string]time.Duration{}
	}
	if len(c.intervals) < 4096 {
		c.intervals[strings.TrimPrefix(name, "Thread ")] = us
	}
	return nil
}

// wake reads "thread: cycle: latency" of -v.
func (c *cyclictest) wake(text []byte, out *rows) error {
	f := &c.f
	f.split(bytes.ReplaceAll(text, []byte(":"), []byte(" ")))
	if f.n != 3 {
		return fmt.Errorf("%s: want thread, cycle and microseconds", clip(text))
	}
	thread, cycle, latency := f.whole(0), f.whole(1), f.nanos(2, time.Microsecond)
	if f.err != nil {
		return f.err
	}
	if thread < 0 || thread > 4096 || cycle < 0 || int64(cycle) > 1<<40 || latency < 0 {
		return fmt.Errorf("%s: want thread, cycle and microseconds, none below zero", clip(text))
	}
	s := c.series(thread, RTT, out)
	row := out.sample(s)
	row.Due = Instant(time.Duration(cycle) * min(c.intervals[string(f.cell[0])], time.Hour))
	if row.Due < 0 || row.Due > farthest/2 {
		row.Due = 0
	}
	row.Sent, row.Elapsed = row.Due, latency
	return nil
}
