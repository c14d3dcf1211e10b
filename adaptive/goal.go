package adaptive

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// Goal is what a timeout must achieve. The zero Goal asks for false positives of at
// most DefaultMaxFalsePositives.
type Goal struct {
	// MaxFalsePositives limits the share of false positives. It is held against the
	// upper limit of the interval: not seen is not shown.
	MaxFalsePositives datasets.Optional[float64]
	// MaxDetection limits detection_p99.
	MaxDetection datasets.Optional[time.Duration]
}

// DefaultMaxFalsePositives is one call in a thousand, where the Amazon Builders'
// Library begins ("Timeouts, retries, and backoff with jitter").
const DefaultMaxFalsePositives = 0.001

// limits returns the greatest share and detection time in seconds that are allowed,
// infinite where there is no limit.
func (g Goal) limits() (share, detection float64) {
	share, hasShare := g.MaxFalsePositives.Value()
	d, hasDetection := g.MaxDetection.Value()
	switch {
	case hasDetection && !hasShare:
		return math.Inf(1), d.Seconds()
	case !hasShare:
		share = DefaultMaxFalsePositives
	}
	if !hasDetection {
		return share, math.Inf(1)
	}
	return share, d.Seconds()
}

func (g Goal) isDefault() bool { return g == Goal{} }

// String says the goal and what decides among those that meet it.
func (g Goal) String() string {
	share, detection := g.limits()
	falsePositives := "false positives at most " + unit.Format(share, "ratio") + " (upper limit)"
	noticed := "a dead peer noticed within " + unit.Format(detection, "s") + " (p99)"
	switch {
	case g.isDefault():
		return falsePositives + ", the default; then noticed soonest"
	case math.IsInf(share, 1):
		return noticed + "; then the fewest false positives"
	case math.IsInf(detection, 1):
		return falsePositives + "; then noticed soonest"
	}
	return falsePositives + " and " + noticed + "; then noticed soonest"
}

// met reports whether a candidate meets the goal. One without a detection time or an
// upper limit does not, nor one that gave up on no answer because there was none.
func (g Goal) met(c *Candidate) bool {
	share, detection := g.limits()
	return c.answered() > 0 && upper(c) <= share && noticed(c) <= detection && !math.IsInf(noticed(c), 1)
}

// compare orders candidates that meet the goal, the better first.
func (g Goal) compare(a, b *Candidate) int {
	soonest := cmp.Compare(noticed(a), noticed(b))
	fewest := cmp.Or(cmp.Compare(upper(a), upper(b)), cmp.Compare(a.FalsePositives, b.FalsePositives))
	if share, _ := g.limits(); math.IsInf(share, 1) {
		return cmp.Or(fewest, soonest)
	}
	return cmp.Or(soonest, fewest)
}

// upper returns the upper limit of the share of false positives, noticed the
// detection_p99 in seconds; infinite if absent.
func upper(c *Candidate) float64   { return orInfinity(c.Share.Hi) }
func noticed(c *Candidate) float64 { return orInfinity(c.DetectionP99) }

func orInfinity(o datasets.Optional[float64]) float64 {
	if v, ok := o.Value(); ok {
		return v
	}
	return math.Inf(1)
}

// markPareto marks the candidates that no other beats in both false positives and
// detection_p99.
func markPareto(all []Candidate) {
	for i := range all {
		a := &all[i]
		a.Pareto = !math.IsInf(noticed(a), 1) && !slices.ContainsFunc(all, func(b Candidate) bool {
			return b.FalsePositives <= a.FalsePositives && noticed(&b) <= noticed(a) &&
				(b.FalsePositives < a.FalsePositives || noticed(&b) < noticed(a))
		})
	}
}

// best returns the index of the candidate that better puts first among those that
// pass, or −1.
func best(all []Candidate, pass func(*Candidate) bool, better func(a, b *Candidate) int) int {
	found := -1
	for i := range all {
		if pass(&all[i]) && (found < 0 || better(&all[i], &all[found]) < 0) {
			found = i
		}
	}
	return found
}

// unmet says why no candidate meets the goal, and which comes nearest.
func (g Goal) unmet(all []Candidate) string {
	share, detection := g.limits()
	var attempts, answered int64
	for _, c := range all {
		attempts = max(attempts, c.Attempts)
		answered = max(answered, c.answered())
	}
	if answered == 0 {
		return fmt.Sprintf("none of %s was answered", count(attempts, "attempt"))
	}
	nearest := best(all, func(c *Candidate) bool { return noticed(c) <= detection },
		func(a, b *Candidate) int {
			return cmp.Or(cmp.Compare(upper(a), upper(b)), cmp.Compare(noticed(a), noticed(b)))
		})
	if nearest < 0 {
		return fmt.Sprintf("no estimator tried notices a dead peer within %s (p99)", unit.Format(detection, "s"))
	}
	c := &all[nearest]
	if want := int64(analysis.NeededN(1-share, analysis.Level)); c.FalsePositives == 0 && share < 1 && attempts < want {
		return fmt.Sprintf("no false positive at all in %s does not show at most %s; that takes %s; nearest is %s",
			count(attempts, "attempt"), unit.Format(share, "ratio"), count(want, "attempt"), c.Text)
	}
	return fmt.Sprintf("nothing tried meets the goal; nearest is %s, %s", c.Text, shareText(c.Share))
}
