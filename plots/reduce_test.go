package plots

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tickmark/tickmark/datasets"
)

// event is a value, or a mark, at an instant.
type event struct {
	at   datasets.Instant
	v    time.Duration
	mark bool
}

// slowCells is the obvious twin of a reducer: it keeps every event, finds the
// narrowest columns that suffice, sorts, and looks up the middle.
func slowCells(events []event, origin time.Duration) []cell {
	var numbers []int64
	for _, e := range events {
		numbers = append(numbers, int64(e.at))
	}
	var shift uint
	for uint64(slices.Max(numbers)>>shift)-uint64(slices.Min(numbers)>>shift) >= ringColumns {
		shift++
	}
	columns := map[int64][]event{}
	for _, e := range events {
		columns[int64(e.at)>>shift] = append(columns[int64(e.at)>>shift], e)
	}
	var cells []cell
	for number, members := range columns {
		c := cell{seconds(number<<shift + 1<<shift/2), seconds(int64(1) << shift), 0, 0, math.NaN(), math.NaN(), math.NaN()}
		var values []int64
		for _, e := range members {
			if e.mark {
				c.Marks++
			} else {
				values = append(values, int64(e.v))
			}
		}
		slices.Sort(values)
		if c.N = int64(len(values)); c.N > 0 {
			lowerMedian := values[(len(values)-1)/2]
			rounded := int64(origin) + columnBuckets.signedMiddle(columnBuckets.signed(lowerMedian-int64(origin)))
			c.Min, c.Max = seconds(values[0]), seconds(values[len(values)-1])
			c.Mid = seconds(min(max(rounded, values[0]), values[len(values)-1]))
		}
		cells = append(cells, c)
	}
	slices.SortFunc(cells, func(a, b cell) int {
		if a.At < b.At {
			return -1
		}
		return 1
	})
	return cells
}

func reduce(events []event, origin time.Duration) []cell {
	r := newReducer(origin)
	for _, e := range events {
		if e.mark {
			r.mark(e.at)
		} else {
			r.add(e.at, e.v)
		}
	}
	return r.cells()
}

func TestReducerIsItsSlowTwin(t *testing.T) {
	for seed := range uint64(15) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			spread := int64(1) << (1 + r.IntN(50))
			events := make([]event, 1+r.IntN(4000))
			for i := range events {
				events[i] = event{
					datasets.Instant(r.Int64N(spread) - r.Int64N(spread)/3),
					time.Duration(r.ExpFloat64() * float64(int64(1)<<r.IntN(40))), r.IntN(20) == 0,
				}
				if r.IntN(3) == 0 {
					events[i].v = -events[i].v
				}
			}
			origin := time.Duration(r.Int64N(3) * 37e9)
			want := slowCells(events, origin)
			check := func(what string, events []event) {
				t.Helper()
				if diff := cmp.Diff(want, reduce(events, origin), cmpopts.EquateNaNs()); diff != "" {
					t.Errorf("%s: %s", what, diff)
				}
			}
			check("as they come", events)
			slices.SortFunc(events, func(a, b event) int { return int(a.at.Sub(b.at)) })
			check("in order of time", events)
			slices.Reverse(events)
			check("backwards", events)
		})
	}
}

// TestReducerAtTheEnds holds that no instant is out of range.
func TestReducerAtTheEnds(t *testing.T) {
	for _, ends := range [][2]datasets.Instant{
		{math.MinInt64, math.MaxInt64},
		{math.MaxInt64, math.MinInt64},
		{math.MaxInt64, math.MaxInt64 - 5000},
		{0, math.MinInt64},
	} {
		r := newReducer(math.MinInt64)
		r.add(ends[0], math.MaxInt64)
		r.add(ends[1], math.MinInt64)
		cells := r.cells()
		if len(cells) != 2 || cells[0].At >= cells[1].At || cells[0].N+cells[1].N != 2 {
			t.Errorf("%d: %+v", ends, cells)
		}
	}
}

func TestMedianIsWithinABucket(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var values []int64
	red := newReducer(0)
	for range 9999 {
		v := int64(1e6 * math.Exp(r.NormFloat64()))
		values = append(values, v)
		red.add(5, time.Duration(v))
	}
	slices.Sort(values)
	exact, got := float64(values[4999]), red.cells()[0].Mid*1e9
	if math.Abs(got/exact-1) > 1./32 {
		t.Errorf("median %g, want %g to 1/32", got, exact)
	}
}

func TestBucketsCoverEveryNumber(t *testing.T) {
	for _, b := range []buckets{columnBuckets, fineBuckets} {
		next := int64(0)
		for i := range b.of(math.MaxInt64) + 1 {
			lo, hi := b.bounds(i)
			if lo != next || hi < lo || b.of(lo) != i || b.of(hi) != i || float64(hi-lo) > float64(lo)/float64(int(1)<<b) {
				t.Fatalf("bucket %d of %d: %d to %d, want it to begin at %d", i, b, lo, hi, next)
			}
			next = hi + 1
		}
		if next != math.MinInt64 { // MaxInt64 + 1
			t.Errorf("the last bucket ends at %d", next-1)
		}
		for _, v := range []int64{0, -1, 1, -31, -33, -1e6, 1e6, math.MinInt64, math.MaxInt64} {
			m := b.signedMiddle(b.signed(v))
			if math.Abs(float64(m)-float64(v)) > math.Abs(float64(v))/float64(int(1)<<b) || (m < 0) != (v < 0) {
				t.Errorf("%d comes back as %d", v, m)
			}
		}
	}
}

func TestHistogramQuantileIsTheRankedValue(t *testing.T) {
	h := newHistogram()
	for i := range 1000 {
		h.add(time.Duration(i+1) * time.Millisecond)
	}
	for q, want := range map[float64]float64{0.5: 0.5, 0.999: 0.999, 1: 1, 0: 0.001} {
		if got := seconds(h.quantile(q)); math.Abs(got/want-1) > 1./2048 {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
}
