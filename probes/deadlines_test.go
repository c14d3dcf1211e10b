package probes

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// However many there are, staggered deadlines fill the range from half the listening
// time to all of it evenly on a logarithmic scale: the largest distance of their
// distribution from the straight line is that of a low-discrepancy sequence, below
// (3 + log n / log φ) / n (Kuipers and Niederreiter 1974, theorem 2.3.4, for φ).
func TestStaggeredDeadlinesFillTheirRange(t *testing.T) {
	d := deadlines{listen: 2 * time.Second}
	for _, n := range []int{5, 100, 10_000} {
		var at []float64
		for seq := range n {
			v, ok := d.of(int64(seq)).Value()
			if !ok || v < time.Second || v > 2*time.Second {
				t.Fatalf("attempt %d: %v", seq, v)
			}
			at = append(at, math.Log2(v.Seconds()))
		}
		slices.Sort(at)
		limit := (3 + math.Log(float64(n))/math.Log(math.Phi)) / float64(n)
		for i, x := range at {
			if off := math.Abs(x - (float64(i)+.5)/float64(n)); off > limit {
				t.Fatalf("%d deadlines: number %d is %.4f from even, want at most %.4f", n, i, off, limit)
			}
		}
	}
}

func TestDeadlinesAreNamed(t *testing.T) {
	for _, c := range []struct {
		d     deadlines
		text  string
		doubt bool
	}{
		{deadlines{}, "none", false},
		{deadlines{listen: 2 * time.Second}, "staggered:from=1s,to=2s", false},
		{deadlines{fixed: datasets.Some(250 * time.Millisecond), listen: time.Second}, "fixed:after=250ms", true},
	} {
		if got := c.d.String(); got != c.text || DeadlineDoubt(Plan{Deadline: c.d.fixed}) != "" != c.doubt {
			t.Errorf("got %q with doubt %q, want %q", got, DeadlineDoubt(Plan{Deadline: c.d.fixed}), c.text)
		}
	}
}
