package datasets

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// tableStream is the rows of a CSV file.
type tableStream struct {
	name                    string
	guard                   *lineGuard
	csv                     *csv.Reader
	header                  *Header
	latency, time           int
	latencyScale, timeScale time.Duration
	listen                  time.Duration
	first                   time.Duration // the first time of sending
	now                     Instant       // when the next call follows, without times
	last                    Instant       // when the row before was due
	rows                    int64
	bad                     badLines
	err                     error

	// The csv package passes over blank lines, but in a file of one column they are
	// the empty cells.
	alone   bool
	line    int64    // the last line of the record before
	pending int64    // blank lines still to be handed out as timeouts
	held    []string // the record behind them
	blank   int64    // blank lines in all

	backwards, unheard int64
}

func (s *tableStream) Header() *Header { return s.header }

func (s *tableStream) Next(row Row) bool {
	sample, ok := row.(*Sample)
	if !ok {
		s.err = fmt.Errorf("%s: holds rows of kind %q; want %q here", s.name, RTT, row.Kind())
	}
	for s.err == nil {
		record, line := s.read()
		if record == nil {
			return false
		}
		if err := s.fill(sample, record); err != nil {
			s.bad.add(&SyntaxError{s.name, line, err.Error()})
			continue
		}
		s.rows++
		return true
	}
	return false
}

// read returns the next record and its line, or nil at the end or an error.
func (s *tableStream) read() (record []string, line int64) {
	for s.pending == 0 && s.held == nil {
		record, err := s.csv.Read()
		var syntax *csv.ParseError
		var place *SyntaxError
		switch {
		case err == nil:
			line, _ := s.csv.FieldPos(0)
			s.passedOver(int64(line))
			s.held, s.line = record, lastLineOf(s.csv, record)
		case errors.As(err, &syntax):
			s.passedOver(int64(syntax.StartLine))
			s.line = int64(syntax.Line)
			s.bad.add(&SyntaxError{s.name, s.line, syntax.Err.Error()})
		case errors.Is(err, io.EOF):
			if s.alone {
				s.passedOver(s.guard.line + 1)
				s.line = s.guard.line
			}
			if s.pending == 0 {
				return nil, 0
			}
		case errors.As(err, &place):
			s.err = err
			return nil, 0
		default:
			s.err = fmt.Errorf("%s: %w", s.name, err)
			return nil, 0
		}
	}
	if s.pending > 0 {
		s.pending--
		return []string{""}, 0
	}
	record, s.held = s.held, nil
	return record, s.line
}

// passedOver notes the blank lines between the record before and the line where the
// next one begins.
func (s *tableStream) passedOver(next int64) {
	n := max(next-s.line-1, 0)
	s.blank += n
	if s.alone {
		s.pending = n
	}
}

// lastLineOf returns the line on which the record just read ends.
func lastLineOf(c *csv.Reader, record []string) int64 {
	last := len(record) - 1
	line, _ := c.FieldPos(last)
	return int64(line + strings.Count(record[last], "\n"))
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
	if s.time < 0 {
		sample.Due = s.now
	} else {
		at, err := parseDecimal(strings.TrimSpace(record[s.time]), s.timeScale)
		if err != nil {
			return err
		}
		if s.rows == 0 {
			s.begin(at)
		}
		sample.Due = Instant(saturatingSub(int64(at), int64(s.first)))
	}
	sample.Sent = sample.Due
	if err := sample.check(); err != nil {
		return err
	}
	s.note(sample)
	return nil
}

// begin makes the first time the instant zero. One more than ten years after 1970 is
// a time of day and not one since some start.
func (s *tableStream) begin(at time.Duration) {
	s.first = at
	if at > 10*365*24*time.Hour {
		s.header.SetEpoch(time.Unix(0, int64(at)))
	}
}

// note takes from a good row what is said at the end.
func (s *tableStream) note(sample *Sample) {
	s.now = sample.Due.Add(sample.Elapsed)
	if s.rows > 0 && sample.Due < s.last {
		s.backwards++
	}
	s.last = sample.Due
	if s.listen > 0 && sample.Elapsed > s.listen {
		s.unheard++
	}
}

func (s *tableStream) Err() error {
	if s.err == nil && s.rows == 0 && s.bad.count > 0 {
		return s.bad.first[0]
	}
	return s.err
}

func (s *tableStream) Warnings() []string {
	warnings := s.bad.warnings(s.name)
	warn := func(n int64, one, many string) {
		if n == 1 {
			warnings = append(warnings, s.name+": 1 "+one)
		} else if n > 1 {
			warnings = append(warnings, fmt.Sprintf("%s: %d %s", s.name, n, many))
		}
	}
	if s.alone {
		warn(s.blank, "blank line is taken as a timeout", "blank lines are taken as timeouts")
	} else {
		warn(s.blank, "blank line is left out", "blank lines are left out")
	}
	warn(s.unheard, fmt.Sprintf("latency is above listen, %v, and still counts as an answer", s.listen),
		fmt.Sprintf("latencies are above listen, %v, and still count as answers", s.listen))
	warn(s.backwards, "row was sent before the row above it", "rows were sent before the row above them")
	if s.time < 0 {
		warnings = append(warnings, s.name+": no time column: calls are taken to have followed one another, so nothing said of instants holds (detection, freezes)")
	}
	return warnings
}
