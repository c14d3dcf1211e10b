package probes

import (
	"strconv"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/serve"
)

// nanoPlan asks as fast as answers come.
func nanoPlan(n int64) Plan {
	return Plan{Count: n, Interval: time.Microsecond, Owned: true, Listen: datasets.Some(5 * time.Second)}
}

// fullRate judges exchanges as they come and keeps none. The server has this host's
// clock, so a reply paired with another request shows: its θ is off by the time
// between the two, and δ is not.
type fullRate struct {
	judged, mispaired, negative, unanswered int64
	trailer                                 map[string]string
}

func (f *fullRate) Begin(*datasets.Header) error { return nil }

func (f *fullRate) Record(row datasets.Row) error {
	e := row.(*datasets.Exchange)
	theta, ok := e.Offset()
	delta, _ := e.Delay()
	switch {
	case e.Outcome != datasets.Replied || !ok:
		f.unanswered++
	case delta < 0:
		f.negative++
	case theta.Abs() > delta/2+1: // the 1 ns by which a half is cut
		f.mispaired++
	default:
		f.judged++
	}
	return nil
}

func (f *fullRate) End(trailer ...datasets.Field) error {
	f.trailer = map[string]string{}
	for _, t := range trailer {
		f.trailer[t.Key] = t.Value
	}
	return nil
}

func ownNTP(tb testing.TB, faults ...string) string {
	tb.Helper()
	var list []serve.Fault
	for _, text := range faults {
		f, _, err := serve.Faults().Parse("fault", text)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, f)
	}
	server, err := serve.Start(serve.Config{NTP: "127.0.0.1:0", Faults: list, Seed: 1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = server.Close() })
	return server.NTPAddr().String()
}

// A million exchanges at full rate with kernel stamps of every departure, beside
// duplicates: none is paired with another's reply or stamp, no negative delay is
// taken, and what stamp is missing is counted.
func TestAMillionExchanges(t *testing.T) {
	if withoutRaceDetector(t) {
		return
	}
	n := int64(1_000_000)
	if testing.Short() {
		n = 100_000
	}
	at := ownNTP(t, "duplicate:share=1%")
	seen := &fullRate{}
	began := time.Now()
	cpu, _ := cpuTime()
	if err := parseNTP(t, "ntp:stamps=kernel").Run(t.Context(), at, nanoPlan(n), seen); err != nil {
		t.Fatal(err)
	}
	after, _ := cpuTime()
	took := time.Since(began)
	missing, err := strconv.ParseInt(seen.trailer["t1-missing"], 10, 64)
	t.Logf("%d exchanges in %v: %.0f a second, %v of CPU each, client and server; trailer %v",
		n, took.Round(time.Millisecond), float64(n)/took.Seconds(), (after-cpu)/time.Duration(n), seen.trailer)
	if seen.mispaired != 0 || seen.negative != 0 || seen.judged+seen.unanswered != n || err != nil {
		t.Errorf("%+v", seen)
	}
	// The machine may lose some to a full buffer; the claim is about what was answered.
	if seen.unanswered > n/1000 || missing > n/1000 || seen.trailer["after-the-answer"] == "0" {
		t.Errorf("%d unanswered, %d stamps missing, trailer %v", seen.unanswered, missing, seen.trailer)
	}
}

func benchmarkNTP(b *testing.B, text string) {
	b.Helper()
	at := ownNTP(b)
	p := parseNTP(b, text)
	seen := &fullRate{}
	b.ReportAllocs()
	b.ResetTimer()
	cpu, _ := cpuTime()
	if err := p.Run(b.Context(), at, nanoPlan(int64(b.N)), seen); err != nil {
		b.Fatal(err)
	}
	after, _ := cpuTime()
	b.ReportMetric(float64((after-cpu).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

// One exchange with an own server on loopback, both in one process.
func BenchmarkNTPPrecise(b *testing.B)       { benchmarkNTP(b, "ntp:engine=precise") }
func BenchmarkNTPPreciseKernel(b *testing.B) { benchmarkNTP(b, "ntp:engine=precise,stamps=kernel") }
func BenchmarkNTPPortable(b *testing.B)      { benchmarkNTP(b, "ntp:engine=portable") }
