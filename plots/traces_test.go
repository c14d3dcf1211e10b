package plots

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// memory is a trace that was made here.
type memory struct {
	header   *datasets.Header
	rows     []datasets.Row
	next     int
	err      error
	warnings []string
}

func (m *memory) Header() *datasets.Header { return m.header }
func (m *memory) Err() error               { return m.err }
func (m *memory) Warnings() []string       { return m.warnings }

func (m *memory) Next(row datasets.Row) bool {
	if m.next >= len(m.rows) {
		return false
	}
	switch r := row.(type) {
	case *datasets.Sample:
		if e, ok := m.rows[m.next].(*datasets.Exchange); ok {
			*r = e.Sample
		} else {
			*r = *m.rows[m.next].(*datasets.Sample)
		}
	case *datasets.Exchange:
		*r = *m.rows[m.next].(*datasets.Exchange)
	case *datasets.Pause:
		*r = *m.rows[m.next].(*datasets.Pause)
	case *datasets.ClockReading:
		*r = *m.rows[m.next].(*datasets.ClockReading)
	}
	m.next++
	return true
}

func newMemory(kind datasets.Kind, rows []datasets.Row) *memory {
	h := &datasets.Header{}
	h.Set(datasets.KeyKind, string(kind))
	h.Set(datasets.KeyProbe, "udp:payload=64")
	h.Set(datasets.KeyTarget, "api-3:443")
	h.SetEpoch(time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC))
	h.SetDuration(datasets.KeyListen, 2*time.Second)
	if kind == datasets.Pauses {
		h.Set(datasets.KeyProbe, "pause")
		h.Set(datasets.KeyTarget, "")
		last := rows[len(rows)-1].(*datasets.Pause)
		h.SetDuration(datasets.KeyObserved, time.Duration(last.At).Round(time.Second))
	}
	return &memory{header: h, rows: rows}
}

func trace(name string, kind datasets.Kind, rows []datasets.Row) []Trace {
	return []Trace{{name, newMemory(kind, rows)}}
}

// calls makes n round trips of a log-normal server (median, sigma), each interval
// one, that stops the world from freezeAt for freeze.
func calls(seed uint64, n int, interval, median time.Duration, sigma float64, freezeAt, freeze time.Duration) []datasets.Row {
	r := rand.New(rand.NewPCG(seed, 1))
	rows := make([]datasets.Row, n)
	for i := range rows {
		due := time.Duration(i) * interval
		d := time.Duration(float64(median) * math.Exp(sigma*r.NormFloat64()))
		if freeze > 0 && due >= freezeAt && due < freezeAt+freeze {
			d += freezeAt + freeze - due
		}
		rows[i] = &datasets.Sample{
			Seq: int64(i), Call: int64(i), Attempt: 1, Due: datasets.Instant(due), Sent: datasets.Instant(due),
			Elapsed: d, Outcome: datasets.Replied, Copies: 1, Inflight: 1,
		}
	}
	return rows
}

// lose makes every k-th of the rows time out.
func lose(rows []datasets.Row, k int) []datasets.Row {
	for i := k; i < len(rows); i += k {
		s := rows[i].(*datasets.Sample)
		s.Outcome, s.Elapsed, s.Copies = datasets.TimedOut, 0, 0
	}
	return rows
}

func mustDraw(tb testing.TB, figure string, traces []Trace) *Chart {
	tb.Helper()
	c, err := Draw(figure, traces)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// stops makes n pauses of a process spread over a time, most of them short.
func stops(seed uint64, n int, over time.Duration) []datasets.Row {
	r := rand.New(rand.NewPCG(seed, 2))
	rows := make([]datasets.Row, n)
	for i := range rows {
		at := float64(over) * (float64(i) + r.Float64()) / float64(n)
		length := 0.2e6 * math.Exp(1.1*r.ExpFloat64())
		cause := ""
		if i%5 == 0 {
			cause = "gc"
		}
		rows[i] = &datasets.Pause{At: datasets.Instant(at), Length: time.Duration(min(length, 3e9)), Cause: cause}
	}
	return rows
}

// exchanges makes n exchanges with a server whose clock is theta(t) ahead, over a
// path of delay (least) and an exponential queue on each way.
func exchanges(seed uint64, n int, interval, delay, queue time.Duration, theta func(at time.Duration) time.Duration) []datasets.Row {
	r := rand.New(rand.NewPCG(seed, 3))
	rows := make([]datasets.Row, n)
	for i := range rows {
		due := time.Duration(i) * interval
		out, back := delay/2+time.Duration(float64(queue)*r.ExpFloat64()), delay/2+time.Duration(float64(queue)*r.ExpFloat64())
		at, ahead := int64(1790000000e9)+int64(due), int64(theta(due))
		const held = 20_000
		rows[i] = &datasets.Exchange{
			Sample: datasets.Sample{
				Seq: int64(i), Call: int64(i), Attempt: 1, Due: datasets.Instant(due), Sent: datasets.Instant(due),
				Elapsed: out + back + held, Outcome: datasets.Replied, Copies: 1, Inflight: 1,
			},
			T1:      datasets.NewStamp(at, datasets.Local, datasets.Kernel),
			T2:      datasets.NewStamp(at+int64(out)+ahead, datasets.Remote, datasets.Kernel),
			T3:      datasets.NewStamp(at+int64(out)+ahead+held, datasets.Remote, datasets.Kernel),
			T4:      datasets.NewStamp(at+int64(out+back)+held, datasets.Local, datasets.Kernel),
			Stratum: datasets.Some(2), RootDelay: datasets.Some(200 * time.Microsecond),
			RootDispersion: datasets.Some(50 * time.Microsecond), Precision: datasets.Some(-23),
		}
	}
	return rows
}

func constant(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

// readings makes n clock readings; the wall clock is set by step in the middle, and
// the steered clocks gain ppm against the raw one.
func readings(seed uint64, n int, interval, step time.Duration, ppm float64) []datasets.Row {
	r := rand.New(rand.NewPCG(seed, 4))
	rows := make([]datasets.Row, n)
	for i := range rows {
		raw := time.Duration(i) * interval
		mono := raw + time.Duration(float64(raw)*ppm*1e-6)
		wall := int64(1790000000e9) + int64(mono)
		if i >= n/2 {
			wall += int64(step)
		}
		rows[i] = &datasets.ClockReading{
			At: datasets.Instant(mono), Realtime: datasets.NewStamp(wall+r.Int64N(80), datasets.Local, datasets.User),
			Monotonic: mono, Raw: raw + time.Duration(r.Int64N(80)), Boottime: mono, Width: 120,
		}
	}
	return rows
}
