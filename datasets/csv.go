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
	return func() (Format, error) { return t, nil }
}

func (table) Recognise([]byte) bool { return false }

func (t table) Open(name string, r io.Reader) (Stream, error) {
	if t.latency == "" {
		return nil, fmt.Errorf("%s: csv: which column holds the latencies? --latency-column NAME", name)
	}
	latencyScale, err := parseScale("unit", t.unit)
	if err != nil {
		return nil, fmt.Errorf("%s: csv: %w", name, err)
	}
	timeScale, err := parseScale("time-unit", t.timeUnit)
	if err != nil {
		return nil, fmt.Errorf("%s: csv: %w", name, err)
	}
	c := csv.NewReader(&lineGuard{name: name, r: r})
	c.ReuseRecord = true
	names, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("%s:1: want a line of column names: %w", name, err)
	}
	s := &tableStream{name: name, csv: c, latencyScale: latencyScale, timeScale: timeScale, header: &Header{}, time: -1}
	names[0] = strings.TrimPrefix(names[0], "\ufeff")
	if s.latency = slices.Index(names, t.latency); s.latency < 0 {
		return nil, fmt.Errorf("%s:1: no column %q: the file has %s", name, t.latency, strings.Join(names, ", "))
	}
	if t.time != "" {
		if s.time = slices.Index(names, t.time); s.time < 0 {
			return nil, fmt.Errorf("%s:1: no column %q: the file has %s", name, t.time, strings.Join(names, ", "))
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

type tableStream struct {
	name                    string
	csv                     *csv.Reader
	header                  *Header
	latency, time           int
	latencyScale, timeScale time.Duration
	first                   time.Duration // the first time of sending
	now                     Instant       // when the next call follows, without times
	rows                    int64
	bad                     badLines
	err                     error
}

func (s *tableStream) Header() *Header { return s.header }

func (s *tableStream) Next(row Row) bool {
	sample, ok := row.(*Sample)
	if !ok {
		s.err = fmt.Errorf("%s: holds rows of kind %q; want %q here", s.name, RTT, row.Kind())
	}
	for s.err == nil {
		record, err := s.csv.Read()
		var syntax *csv.ParseError
		var place *SyntaxError
		switch {
		case errors.Is(err, io.EOF):
			return false
		case errors.As(err, &syntax):
			s.bad.add(&SyntaxError{s.name, int64(syntax.Line), syntax.Err.Error()})
			continue
		case errors.As(err, &place):
			s.err = err
			return false
		case err != nil:
			s.err = fmt.Errorf("%s: %w", s.name, err)
			return false
		}
		if err := s.fill(sample, record); err != nil {
			line, _ := s.csv.FieldPos(0)
			s.bad.add(&SyntaxError{s.name, int64(line), err.Error()})
			continue
		}
		s.rows++
		return true
	}
	return false
}

func (s *tableStream) fill(sample *Sample, record []string) error {
	*sample = Sample{Seq: s.rows, Call: s.rows, Attempt: 1, Copies: 1, Inflight: 1, Outcome: Replied}
	text := strings.TrimSpace(record[s.latency])
	if text == "" {
		sample.Outcome, sample.Copies = TimedOut, 0
	} else {
		latency, err := parseDecimal(text, s.latencyScale)
		if err != nil {
			return err
		} else if latency < 0 {
			return fmt.Errorf("latency %q: must not be negative", text)
		}
		sample.Elapsed = latency
	}
	sample.Due = s.now
	s.now = s.now.Add(sample.Elapsed)
	if s.time >= 0 {
		at, err := parseDecimal(strings.TrimSpace(record[s.time]), s.timeScale)
		if err != nil {
			return err
		}
		if s.rows == 0 {
			s.first = at
		}
		sample.Due = Instant(at - s.first)
	}
	sample.Sent = sample.Due
	return nil
}

func (s *tableStream) Err() error {
	if s.err == nil && s.rows == 0 && s.bad.count > 0 {
		return s.bad.first[0]
	}
	return s.err
}

func (s *tableStream) Warnings() []string {
	warnings := s.bad.warnings(s.name)
	if s.time < 0 {
		warnings = append(warnings, s.name+": no time column: calls are taken to have followed one another, so nothing said of instants holds (detection, freezes)")
	}
	return warnings
}
