package analysis

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// NeededN returns how many samples it takes until the q-quantile has a two-sided
// distribution-free interval at all: until the chance that it lies outside all of
// them is at most (1−level)/2 on either side. 36,887 for p99.99 at 95 %.
func NeededN(q, level float64) int { return needed(math.Max(q, 1-q), tail(level)) }

// NeededOneSided returns how many samples it takes until the largest of them is an
// upper limit of the q-quantile: 29,956 for p99.99 at 95 %.
func NeededOneSided(q, level float64) int { return needed(q, 1-level) }

// needed returns the least n for which q^n ≤ risk.
func needed(q, risk float64) int {
	switch {
	case q <= 0:
		return 1
	case q >= 1:
		return math.MaxInt
	}
	n := math.Ceil(math.Log(risk) / math.Log(q))
	if !(n < math.MaxInt32*1024) {
		return math.MaxInt
	}
	return max(int(n), 1)
}

// OrderRanks returns the ranks (from 1) of the two order statistics of n samples
// between which the q-quantile lies with at least the probability level, cut
// equally on both sides, and that probability. A lo of 0 or a hi of n+1 says that
// no sample is far enough out. Ties and steps in the distribution only raise the
// coverage (David and Nagaraja, Order Statistics, 2003, §7.1).
func OrderRanks(n int, q, level float64) (lo, hi int, coverage float64) {
	risk := tail(level)
	if risk == 0 {
		return 0, n + 1, 1
	}
	b := newBinomial(int64(n), q)
	lo, hi = int(b.first), int(b.first)+len(b.mass)
	below, above := 0.0, 0.0
	for _, p := range b.mass {
		if below+p > risk {
			break
		}
		below += p
		lo++
	}
	for i := len(b.mass) - 1; i >= 0 && above+b.mass[i] <= risk; i-- {
		above += b.mass[i]
		hi--
	}
	return lo, hi, 1 - below - above
}

// quantileRank returns the rank (from 1) of the q-quantile of n samples: the least k
// with k/n ≥ q, not misled by the last bit of n·q.
func quantileRank(n int, q float64) int {
	k := float64(n) * q
	if whole := math.Round(k); math.Abs(k-whole) <= 4e-16*k {
		k = whole
	}
	return min(max(int(math.Ceil(k)), 1), n)
}

// quantile returns the q-quantile of values, every one of them known.
func (r *ranks) quantile(q, level float64) Interval {
	known := Latencies{answered: *r}
	i := known.Quantile(q, level)
	*r = known.answered
	return i
}

// QuantileName writes q as people say it: 0.9999 is "p99.99".
func QuantileName(q float64) string {
	return "p" + strconv.FormatFloat(q*100, 'g', 12, 64)
}

// tooFew is the warning of a quantile that is refused. The rate is in samples a
// second, 0 if unknown.
func tooFew(q, level float64, n int, rate float64) string {
	want := NeededN(q, level)
	if want == math.MaxInt {
		return QuantileName(q) + ": no number of samples gives it limits"
	}
	text := fmt.Sprintf("%s: needs %s, has %s", QuantileName(q), counted(int64(want), "sample", "samples"), unit.Count(int64(n)))
	if rate > 0 {
		text += fmt.Sprintf(" (measure %s more at this rate)", Wait(float64(want-n)/rate))
	}
	return text
}

// Wait writes a time still to be measured, in seconds, rounded up to what a person
// plans with: "40 s", "25 min", "3 h", "12 days".
func Wait(seconds float64) string {
	for _, u := range []struct {
		name          string
		length, limit float64
	}{{"s", 1, 120}, {"min", 60, 120}, {"h", 3600, 72}, {"days", 86400, math.Inf(1)}} {
		if n := math.Ceil(seconds / u.length * (1 - 1e-12)); n <= u.limit {
			return unit.Number(math.Max(n, 1), 0) + " " + u.name
		}
	}
	return unit.Absent
}

func someSeconds(d time.Duration) datasets.Optional[float64] { return datasets.Some(d.Seconds()) }
