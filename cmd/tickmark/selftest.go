package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
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

// stampMode is a way to take the four stamps, and the probe that takes them so.
type stampMode struct{ name, probe string }

// The modes that a host may have, apart from hardware: no packet on loopback meets a NIC.
const (
	modeUser        = "user"
	modeBasic       = "basic"
	modeKernel      = "kernel"
	modeInterleaved = "interleaved"
)

func stampModes() []stampMode {
	return []stampMode{
		{modeInterleaved, "ntp:mode=interleaved"},
		defaultMode(),
		{modeKernel, "ntp:stamps=kernel"},
		{modeUser, "ntp:stamps=user"},
	}
}

func defaultMode() stampMode { return stampMode{modeBasic, "ntp"} }

type selfTest struct {
	mode               stampMode
	bias, middle, tail analysis.Interval // θ p50, |θ| p50 and p99, in seconds; the truth is 0
	missing            int64             // stamps that did not come
	stamps             string            // who took them, by the rows
	header             string            // who took them, by the header
}

// sampleSink keeps a recording in memory.
type sampleSink struct {
	header  *datasets.Header
	offsets *analysis.OffsetSummary
	missing int64
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

// End counts the stamps that are missing: T3 of the last interleaved exchange always is,
// and is not counted.
func (s *sampleSink) End(trailer ...datasets.Field) error {
	for _, f := range trailer {
		n, err := strconv.ParseInt(f.Value, 10, 64)
		switch {
		case err != nil:
		case f.Key == "t1-missing":
			s.missing += n
		case f.Key == "t3-missing":
			s.missing += max(0, n-1)
		}
	}
	return nil
}

// runSelfTest measures one mode. Where the system has not got it the error is
// errors.ErrUnsupported.
func runSelfTest(ctx context.Context, mode stampMode) (*selfTest, error) {
	probe, _, err := probes.Probes().Parse("probe", mode.probe)
	if err != nil {
		return nil, err
	}
	server, err := serve.Start(serve.Config{NTP: "127.0.0.1:0"})
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
	return &selfTest{
		mode: mode, bias: o.P50, middle: o.P50Abs, tail: o.P99Abs,
		missing: sink.missing, stamps: o.Stamps, header: sink.header.Text(datasets.KeyStamps),
	}, nil
}

// facts are what the headers of a run say of the instrument.
func (t *selfTest) facts() []datasets.Field {
	facts := []datasets.Field{{Key: datasets.KeySelfTest, Value: t.sentence()}}
	if bias, ok := t.bias.Value.Value(); ok {
		facts = append(facts, datasets.Field{Key: datasets.KeySelfBias, Value: nanoseconds(bias).String()})
	}
	return facts
}

func nanoseconds(seconds float64) time.Duration { return time.Duration(math.Round(seconds * 1e9)) }

func (t *selfTest) sentence() string {
	bias, ok := t.bias.Value.Value()
	lo, lok := t.bias.Lo.Value()
	hi, hok := t.bias.Hi.Value()
	if !ok || !lok || !hok {
		return fmt.Sprintf("no bias could be told from %d exchanges", t.bias.N)
	}
	text := fmt.Sprintf("bias %s [%s, %s] (p50 of %d, 95 %%)", unit.Format(bias, "s"), unit.Format(lo, "s"), unit.Format(hi, "s"), t.bias.N)
	if worst, ok := t.tail.Value.Value(); ok {
		text += ", |error| p99 " + unit.Format(worst, "s")
	}
	return text + ", stamps " + t.header
}
