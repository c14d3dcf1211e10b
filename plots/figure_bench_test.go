package plots

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// endless is a stream of n rows made from a few thousand prepared ones, so that
// what is timed is the figure and not the making of samples.
type endless struct {
	memory
	n, i int64
}

func (e *endless) Next(row datasets.Row) bool {
	if e.i >= e.n {
		return false
	}
	due := datasets.Instant(e.i) * datasets.Instant(time.Millisecond)
	from := e.rows[e.i&(int64(len(e.rows))-1)]
	switch to := row.(type) {
	case *datasets.Sample:
		*to = *from.(*datasets.Sample)
		to.Seq, to.Due, to.Sent = e.i, due, due
	case *datasets.Exchange:
		*to = *from.(*datasets.Exchange)
		to.Seq, to.Due, to.Sent = e.i, due, due
	case *datasets.Pause:
		*to = *from.(*datasets.Pause)
		to.At = due
	case *datasets.ClockReading:
		*to = *from.(*datasets.ClockReading)
		at := time.Duration(due)
		to.At, to.Monotonic, to.Raw, to.Boottime = due, at, at, at
		to.Realtime = datasets.NewStamp(int64(at), datasets.Local, datasets.User)
	}
	e.i++
	return true
}

func endlessTrace(kind datasets.Kind, n int64) []Trace {
	const prepared = 1 << 12
	var rows []datasets.Row
	switch kind {
	case datasets.RTT:
		rows = lose(calls(1, prepared, time.Millisecond, 10*time.Millisecond, 0.3, time.Second, 400*time.Millisecond), 1000)
	case datasets.Exchanges:
		rows = exchanges(1, prepared, time.Millisecond, time.Millisecond, 100*time.Microsecond, constant(time.Millisecond))
	case datasets.Pauses:
		rows = stops(1, prepared, time.Minute)
	case datasets.Clocks:
		rows = readings(1, prepared, time.Millisecond, 0, 10)
	case datasets.Claims, datasets.SeriesKind, datasets.Histograms, datasets.Matrices: // no figure shows them
	}
	return []Trace{{"bench.trace", &endless{memory: *newMemory(kind, rows), n: n}}}
}

// BenchmarkFigure10M reads ten million samples and draws each figure as SVG and PNG.
func BenchmarkFigure10M(b *testing.B) {
	for _, f := range []struct {
		figure string
		kind   datasets.Kind
	}{
		{"rtt", datasets.RTT},
		{"survival", datasets.RTT},
		{"timeout", datasets.RTT},
		{"tradeoff", datasets.RTT}, // replays seventeen estimators first
		{"offset", datasets.Exchanges},
		{"pauses", datasets.Pauses},
		{"clocks", datasets.Clocks},
	} {
		b.Run(f.figure, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := mustDraw(b, f.figure, endlessTrace(f.kind, 10_000_000))
				var svg, png bytes.Buffer
				if err := c.WriteSVG(&svg, Theme{}); err != nil {
					b.Fatal(err)
				}
				if err := c.WritePNG(&png, Theme{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReduce(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	values := make([]time.Duration, 1<<16)
	for i := range values {
		values[i] = time.Duration(10e6 * math.Exp(0.3*r.NormFloat64()))
	}
	for _, marks := range []int{0, 100} {
		b.Run(fmt.Sprintf("marks=%d%%", marks), func(b *testing.B) {
			b.ReportAllocs()
			red := newReducer(0)
			for i := 0; b.Loop(); i++ {
				at := datasets.Instant(i) * datasets.Instant(time.Millisecond)
				if marks > 0 {
					red.mark(at)
				} else {
					red.add(at, values[i&(1<<16-1)])
				}
			}
		})
	}
}
