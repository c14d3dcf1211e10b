package probes

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// sending is how well a probe kept to its schedule.
type sending struct {
	interval time.Duration    // asked for, on average
	lateness spread           // from due to sent, of what was sent
	from, to datasets.Instant // when the first and the last attempt left
	skipped  int64            // attempts that were overdue by more than listen
	crowded  int64            // attempts for which too many others were in flight
	failed   int64            // attempts that the system would not send
	first    error            // why, for the first of them
}

// left notes an attempt that was sent.
func (s *sending) left(due, sent datasets.Instant) {
	if s.lateness.n == 0 {
		s.from = sent
	}
	s.to = sent
	s.lateness.add(sent.Sub(due))
}

// refused notes that the system would not send one.
func (s *sending) refused(err error) {
	if s.failed++; s.first == nil {
		s.first = err
	}
}

// saturated is the share of attempts that we could not send from which on a recording
// says more of us than of what it measures.
const saturated = 0.01

// unfit says why the recording does not follow its schedule, or "". A stall of ours
// does not make it so: its attempts leave late and are marked, each by itself.
func (s *sending) unfit() string {
	lost := s.skipped + s.crowded
	if all := s.lateness.n + lost; lost > 0 && float64(lost) >= saturated*float64(all) {
		return fmt.Sprintf("we could not keep up: %d of %d attempts were not sent (%d overdue, %d while too many were in flight)", lost, all, s.skipped, s.crowded)
	}
	late := s.lateness.quantile(.5)
	if s.lateness.n >= 100 && late >= max(2*time.Millisecond, 2*s.interval) {
		return fmt.Sprintf("we could not keep up: half of the attempts left %v late or later", late.Round(time.Microsecond))
	}
	return ""
}

// fields is what a trailer says of it.
func (s *sending) fields() []datasets.Field {
	fields := []datasets.Field{count("sent", s.lateness.n)}
	if span := s.to.Sub(s.from); span > 0 {
		rate := float64(s.lateness.n-1) / span.Seconds()
		fields = append(fields, datasets.Field{Key: datasets.KeyRate, Value: strconv.FormatFloat(rate, 'g', 6, 64) + "/s"})
	}
	fields = append(fields, s.lateness.fields("lateness")...)
	fields = append(fields, count("skipped", s.skipped), count("crowded", s.crowded), count("send-errors", s.failed))
	if s.first != nil {
		fields = append(fields, datasets.Field{Key: "send-error", Value: s.first.Error()})
	}
	if why := s.unfit(); why != "" {
		fields = append(fields, datasets.Field{Key: datasets.KeyUnfit, Value: why})
	}
	return fields
}
