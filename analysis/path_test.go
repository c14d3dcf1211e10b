package analysis_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

// walk is a world of which everything is known: the server's clock is ahead by offset, the
// way there takes out and the way back back, unread and served there.
type walk struct{ offset, out, back, unread, served time.Duration }

func (w walk) sample(seq int64, jitter time.Duration) *datasets.Sample {
	at := time.Duration(seq) * time.Millisecond
	t1 := 1_800_000_000*time.Second + at + 20*time.Microsecond
	t2 := t1 + w.out + jitter + w.offset
	t4 := t1 + w.out + jitter + w.unread + w.served + w.back
	return &datasets.Sample{
		Seq: seq, Due: datasets.Instant(at), Sent: datasets.Instant(at), Outcome: datasets.Replied,
		Elapsed: 20*time.Microsecond + (t4 - t1) + 30*time.Microsecond,
		Extra:   fmt.Sprintf("%d\t%d\t%d\t%d\t%d\t-", t1, t2, t4, w.served, w.unread),
	}
}

func pathOf(t *testing.T, columns string, samples ...*datasets.Sample) *analysis.Path {
	t.Helper()
	h := &datasets.Header{}
	h.Extra = strings.Fields(columns)
	p := analysis.NewPathSummary(h)
	if p == nil {
		t.Fatalf("no path of %q", columns)
	}
	for _, s := range samples {
		p.Add(s)
	}
	return p.Summary(0.95)
}

const udpColumns = "t1 t2 t4 server_ns server_queued_ns why"

// What is known comes out: ours and there exactly, the ways within the bound, which for
// an asymmetric way is just reached.
func TestPathFindsWhatIsKnown(t *testing.T) {
	for name, w := range map[string]walk{
		"symmetric":             {5 * time.Hour, 40 * time.Microsecond, 40 * time.Microsecond, 10 * time.Microsecond, 5 * time.Microsecond},
		"one way, behind":       {-3 * time.Second, 200 * time.Microsecond, 0, 0, 7 * time.Microsecond},
		"the other, a jump off": {time.Millisecond, 0, 90 * time.Microsecond, time.Microsecond, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var all []*datasets.Sample
			for i := range int64(1000) {
				all = append(all, w.sample(i, time.Duration(i%7)*time.Microsecond))
			}
			got := pathOf(t, udpColumns, all...)
			if len(got.Warnings) > 0 {
				t.Errorf("warnings %q", got.Warnings)
			}
			for i, want := range []time.Duration{50 * time.Microsecond, w.out + 3*time.Microsecond, w.unread + w.served, w.unread, w.back} {
				part := got.Parts[i]
				v, _ := part.P50.Value.Value()
				bound, _ := part.Bound.Value()
				if math.Abs(v-want.Seconds()) > bound+1e-9 {
					t.Errorf("%s: p50 %v s ± %v, want %v", part.Name, v, bound, want)
				}
			}
		})
	}
}

// A way that takes less than the clocks' offset is unsure of is negative, and explained; a
// clock that is set is found, and what comes after it is measured anew.
func TestPathExplainsNegativeDelays(t *testing.T) {
	// The shortest trip comes back slowly, which makes the server's clock seem 50 µs less
	// ahead than it is; those that leave slowly then seem to come back before they left.
	w := walk{time.Second, 150 * time.Microsecond, 0, 0, 0}
	all := []*datasets.Sample{walk{time.Second, 0, 100 * time.Microsecond, 0, 0}.sample(0, 0)}
	for i := range int64(100) {
		all = append(all, w.sample(1+i, 0))
	}
	got := pathOf(t, udpColumns, all...)
	if got.Negative == 0 {
		t.Error("none is negative")
	}
	for _, w := range got.Warnings {
		if !strings.Contains(w, "within the bound") {
			t.Errorf("not explained: %s", w)
		}
	}
	w.offset += 300 * time.Millisecond
	for i := range int64(500) {
		all = append(all, w.sample(600+i, 0))
	}
	got = pathOf(t, udpColumns, all...)
	if last := got.Warnings[len(got.Warnings)-1]; !strings.Contains(last, "moved apart 1 times, by up to 300") {
		t.Errorf("a clock was set by 300 ms: %q", got.Warnings)
	}
	if out, _ := got.Parts[1].P99.Value.Value(); out > 1e-3 {
		t.Errorf("the step is in the one-way delay: p99 %v s", out)
	}
}

// A drift by less than the assumed is followed.
func TestPathFollowsDrift(t *testing.T) {
	var all []*datasets.Sample
	for i := range int64(60_000) {
		w := walk{time.Duration(float64(i) * 30), 20 * time.Microsecond, 20 * time.Microsecond, 0, 0} // 30 ppm of 1 ms
		all = append(all, w.sample(i, time.Duration(i%50)*time.Microsecond))
	}
	got := pathOf(t, udpColumns, all...)
	bound, _ := got.Parts[1].Bound.Value()
	if v, _ := got.Parts[4].P50.Value.Value(); len(got.Warnings) > 0 || math.Abs(v-20e-6) > bound || bound > 60e-6 {
		t.Errorf("back %v s ± %v after a drift of 1.8 ms: %q", v, bound, got.Warnings)
	}
}

// STAMP rows have t3 instead of durations.
func TestPathOfFourStamps(t *testing.T) {
	s := &datasets.Sample{Outcome: datasets.Replied, Elapsed: 100, Extra: "1000\t2005\t2015\t1060"}
	got := pathOf(t, "t1 t2 t3 t4", s, s, s, s, s, s, s, s)
	if v, _ := got.Parts[2].P50.Value.Value(); math.Abs(v-10e-9) > 1e-12 {
		t.Errorf("there %v s, want 10 ns", v)
	}
	if p := analysis.NewPathSummary(&datasets.Header{}); p != nil {
		t.Error("a path without stamps")
	}
}
