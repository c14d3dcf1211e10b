package datasets

import (
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets/spec"
)

// table reads latencies from a CSV file of anybody's, by the names of its columns.
// It is never recognised: a column of numbers does not say what they are.
type table struct {
	latency, unit  string
	time, timeUnit string
	listen         time.Duration
}

func bindCSV(fs *flag.FlagSet) func() (Format, error) {
	t := table{}
	fs.StringVar(&t.latency, "latency-column", "", "`column` that holds the latencies; an empty cell is a timeout")
	fs.StringVar(&t.unit, "unit", "", "`unit` of the latencies: s, ms, us or ns")
	fs.StringVar(&t.time, "time-column", "", "`column` that holds the times of sending (default: calls follow one another)")
	fs.StringVar(&t.timeUnit, "time-unit", "s", "`unit` of the times: s, ms, us or ns")
	fs.DurationVar(&t.listen, "listen", 0, "how long an unanswered call was waited for, if known")
	return func() (Format, error) {
		if t.listen < 0 {
			return nil, errors.New("listen must not be negative")
		}
		_, err := parseScale("unit", t.unit)
		if t.unit == "" { // Open asks for it, with the name of the file
			err = nil
		}
		if err == nil {
			_, err = parseScale("time-unit", t.timeUnit)
		}
		return t, err
	}
}

func (table) Recognise([]byte) bool { return false }

func (t table) Open(name string, r io.Reader) (Stream, error) {
	if t.latency == "" {
		return nil, &spec.UsageError{Msg: name + ": csv: which column holds the latencies? --latency-column NAME"}
	}
	latencyScale, err := parseScale("unit", t.unit)
	if err != nil {
		return nil, &spec.UsageError{Msg: fmt.Sprintf("%s: csv: %v", name, err)}
	}
	timeScale, err := parseScale("time-unit", t.timeUnit)
	if err != nil {
		return nil, &spec.UsageError{Msg: fmt.Sprintf("%s: csv: %v", name, err)}
	}
	guard := &lineGuard{name: name, r: r}
	c := csv.NewReader(guard)
	c.ReuseRecord = true
	names, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("%s:1: want a line of column names: %w", name, err)
	}
	s := &tableStream{
		name: name, guard: guard, csv: c, header: &Header{}, latencyScale: latencyScale, timeScale: timeScale,
		listen: t.listen, time: -1, alone: len(names) == 1, line: lastLineOf(c, names),
	}
	names[0] = strings.TrimPrefix(names[0], "\ufeff")
	if s.latency, err = findColumn(name, names, t.latency); err != nil {
		return nil, err
	}
	if t.time != "" {
		if s.time, err = findColumn(name, names, t.time); err != nil {
			return nil, err
		}
	}
	s.header.Set(KeyKind, string(RTT))
	s.header.Set(KeyTarget, name)
	s.header.Set("source", fmt.Sprintf("csv, latency from column %q in %s", t.latency, t.unit))
	if t.listen > 0 {
		s.header.SetDuration(KeyListen, t.listen)
	}
	return s, nil
}

func findColumn(name string, names []string, want string) (int, error) {
	i := slices.Index(names, want)
	switch {
	case i < 0:
		return 0, fmt.Errorf("%s:1: no column %q: the file has %s", name, want, strings.Join(names, ", "))
	case slices.Contains(names[i+1:], want):
		return 0, fmt.Errorf("%s:1: column %q stands twice", name, want)
	}
	return i, nil
}

func parseScale(option, unit string) (time.Duration, error) {
	switch unit {
	case "s":
		return time.Second, nil
	case "ms":
		return time.Millisecond, nil
	case "us", "µs":
		return time.Microsecond, nil
	case "ns":
		return time.Nanosecond, nil
	}
	return 0, fmt.Errorf("%s %q: want s, ms, us or ns", option, unit)
}
