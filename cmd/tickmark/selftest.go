package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
	"github.com/tickmark/tickmark/probes/serve"
)

// A self-test is a known answer: exchanges with an own NTP server on loopback, on
// the same clock, so that every offset that is read is the instrument's own error.
const (
	selfTestExchanges = 500 // a p99 of |θ| needs 368
	selfTestInterval  = 4 * time.Millisecond
)

type selfTest struct {
	bias, worst analysis.Interval // θ p50 and |θ| p99, in seconds; the truth is 0
	stamps      string
}

// sampleSink keeps a recording in memory.
type sampleSink struct {
	header  *datasets.Header
	offsets *analysis.OffsetSummary
}

func (s *sampleSink) Begin(h *datasets.Header) error {
	s.header, s.offsets = h, analysis.NewOffsetSummary(h)
	return nil
}

func (s *sampleSink) Record(row datasets.Row) error {
	e, ok := row.(*datasets.Exchange)
	if !ok {
		return fmt.Errorf("a row of kind %q where an exchange is wanted", row.Kind())
	}
	s.offsets.Add(e)
	return nil
}

func (s *sampleSink) End(...datasets.Field) error { return nil }

func runSelfTest(ctx context.Context) (*selfTest, error) {
	server, err := serve.Start(serve.Config{NTP: "127.0.0.1:0"})
	if err != nil {
		return nil, err
	}
	probe, _, err := probes.Probes().Parse("probe", "ntp")
	if err != nil {
		return nil, err
	}
	sink := &sampleSink{}
	plan := probes.Plan{Count: selfTestExchanges, Interval: selfTestInterval, Owned: true}
	err = probe.Run(ctx, server.NTPAddr().String(), plan, sink)
	if err := errors.Join(err, server.Close()); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	o := sink.offsets.Summary(analysis.Level)
	return &selfTest{bias: o.P50, worst: o.P99Abs, stamps: sink.header.Text(datasets.KeyStamps)}, nil
}

// facts are what the headers of the run say of the instrument.
func (t *selfTest) facts() []datasets.Field {
	facts := []datasets.Field{{Key: "self-test", Value: t.sentence()}}
	if bias, ok := t.bias.Value.Value(); ok {
		d := time.Duration(math.Round(bias * 1e9))
		facts = append(facts, datasets.Field{Key: datasets.KeySelfBias, Value: d.String()})
	}
	return facts
}

func (t *selfTest) sentence() string {
	bias, ok := t.bias.Value.Value()
	lo, lok := t.bias.Lo.Value()
	hi, hok := t.bias.Hi.Value()
	if !ok || !lok || !hok {
		return fmt.Sprintf("no bias could be told from %d exchanges", t.bias.N)
	}
	text := fmt.Sprintf("bias %s [%s, %s] (p50 of %d, 95 %%)", unit.Format(bias, "s"), unit.Format(lo, "s"), unit.Format(hi, "s"), t.bias.N)
	if worst, ok := t.worst.Value.Value(); ok {
		text += ", |error| p99 " + unit.Format(worst, "s")
	}
	return text + ", stamps " + t.stamps
}
