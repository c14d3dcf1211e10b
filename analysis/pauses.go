package analysis

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// PauseSummary sums up a pause trace. The zero value is ready.
type PauseSummary struct {
	// Observed is how long the trace watched (the header's "observed"). Where it is
	// absent, the time from the first pause to the end of the last stands for it.
	Observed datasets.Optional[time.Duration]

	count          int64
	longest, total time.Duration
	begin, end     datasets.Instant
	causes         map[string]*causeSummary
}

// Pauses says how often and how long a process was not run, in seconds.
type Pauses struct {
	Count    int64
	Longest  datasets.Optional[float64]
	Share    datasets.Optional[float64] // of the time observed
	PerHour  Interval                   // Garwood's, which takes pauses as independent
	Causes   []Cause                    // if any is known, the one that took the most time first
	Warnings []string
}

// Add takes one pause.
func (p *PauseSummary) Add(row *datasets.Pause) {
	if p.count == 0 {
		p.begin, p.end = row.At, row.At
	}
	p.count++
	p.longest = max(p.longest, row.Length)
	p.total += row.Length
	p.addCause(row)
	p.begin = min(p.begin, row.At)
	p.end = max(p.end, row.At.Add(row.Length))
}

// Summary returns the whole at a confidence level for the rate.
func (p *PauseSummary) Summary(level float64) Pauses {
	out := Pauses{Count: p.count}
	if p.count > 0 {
		out.Longest = someSeconds(p.longest)
	}
	observed, known := p.Observed.Value()
	if !known {
		observed = p.end.Sub(p.begin)
		out.Warnings = append(out.Warnings, "pauses: the trace does not say how long it watched; from the first pause to the last is taken, which makes the rate too high")
	}
	out.PerHour = Garwood(p.count, level).Over(observed.Hours())
	out.Causes = p.summaries(observed, level)
	out.Warnings = append(out.Warnings, tooFewOfACause(out.Causes, level)...)
	if observed > 0 {
		out.Share = datasets.Some(p.total.Seconds() / observed.Seconds())
	}
	return out
}
