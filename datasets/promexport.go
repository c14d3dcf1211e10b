package datasets

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// promExport writes the text exposition format of Prometheus, version 0.0.4: a histogram of
// the latencies of answered attempts, and how many attempts had each outcome.
type promExport struct{}

func (promExport) Loses() string {
	return "a histogram has no order, no times and no single values; attempts without an answer are only counted"
}

func (promExport) Begin(w io.Writer, h *Header) (Encoder, error) {
	if err := wantLatencies("prom", h); err != nil {
		return nil, err
	}
	return &promEncoder{w: w, target: h.Text(KeyTarget), buckets: make([]int64, len(promBuckets()))}, nil
}

// wantLatencies refuses traces whose rows have no latency.
func wantLatencies(form string, h *Header) error {
	if k := h.Kind(); k != RTT && k != Exchanges {
		return fmt.Errorf("%s: holds latencies, and rows of kind %q have none", form, k)
	}
	return nil
}

type promEncoder struct {
	w        io.Writer
	target   string
	buckets  []int64
	outcomes [outcomes]int64
	sum      time.Duration
}

// promBuckets are the upper limits of the buckets: 1, 2 and 5 of every decade, from 10 µs
// to 50 s.
func promBuckets() (limits []time.Duration) {
	for decade := 10 * time.Microsecond; decade <= 10*time.Second; decade *= 10 {
		limits = append(limits, decade, 2*decade, 5*decade)
	}
	return limits
}

func (p *promEncoder) Write(row Row) error {
	s, ok := sampleOf(row)
	if !ok {
		return fmt.Errorf("prom: a row of kind %q", row.Kind())
	}
	p.outcomes[s.Outcome]++
	if d, ok := s.Latency(); ok {
		p.sum += d
		if i, _ := slices.BinarySearch(promBuckets(), d); i < len(p.buckets) {
			p.buckets[i]++
		}
	}
	return nil
}

// sampleOf returns the attempt that a row is of.
func sampleOf(row Row) (*Sample, bool) {
	switch r := row.(type) {
	case *Sample:
		return r, true
	case *Exchange:
		return &r.Sample, true
	}
	return nil, false
}

func (p *promEncoder) Close(...Field) error {
	w := bufio.NewWriter(p.w)
	label := `target="` + strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(p.target) + `"`
	w.WriteString("# HELP tickmark_latency_seconds Latency of answered attempts, from when each was due.\n# TYPE tickmark_latency_seconds histogram\n")
	total := int64(0)
	for i, limit := range promBuckets() {
		total += p.buckets[i]
		fmt.Fprintf(w, "tickmark_latency_seconds_bucket{%s,le=\"%s\"} %d\n", label, strconv.FormatFloat(limit.Seconds(), 'g', -1, 64), total)
	}
	answered := p.outcomes[Replied] + p.outcomes[Late]
	fmt.Fprintf(w, "tickmark_latency_seconds_bucket{%s,le=\"+Inf\"} %d\n", label, answered)
	fmt.Fprintf(w, "tickmark_latency_seconds_sum{%s} %s\n", label, strconv.FormatFloat(p.sum.Seconds(), 'g', -1, 64))
	fmt.Fprintf(w, "tickmark_latency_seconds_count{%s} %d\n", label, answered)
	w.WriteString("# HELP tickmark_attempts_total Attempts by what became of them.\n# TYPE tickmark_attempts_total counter\n")
	for o, n := range p.outcomes {
		fmt.Fprintf(w, "tickmark_attempts_total{%s,outcome=\"%s\"} %d\n", label, Outcome(o), n)
	}
	return w.Flush()
}
