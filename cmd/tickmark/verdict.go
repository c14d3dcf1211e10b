package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/plots/page"
)

// verdict is the run in at most five sentences, each with its number and interval.
func (r *runData) verdict() []string {
	var sentences []string
	for _, sentence := range []string{r.clockSentence(), r.tripSentence(), r.timeoutSentence(), r.pauseSentence(), r.openSentence()} {
		if sentence != "" {
			sentences = append(sentences, sentence)
		}
	}
	return sentences
}

func (r *runData) clockSentence() string {
	ntp := r.summaries["ntp"]
	if ntp == nil {
		return "Clock: not measured."
	}
	best, ok := ntp.Offsets.Best.Value()
	if !ok {
		return fmt.Sprintf("Clock: none of %s exchanges with %s gave an offset.", unit.Count(ntp.Trips.Samples), ntp.Header.Text(datasets.KeyTarget))
	}
	against := "against " + ntp.Header.Text(datasets.KeyTarget)
	if r.OwnNTP {
		against = "against this process's own server, whose true offset is zero"
	}
	dominant := slices.MaxFunc(best.Terms, func(a, b analysis.Term) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return fmt.Sprintf("Clock: %s %s (p50 of %s exchanges); the best exchange cannot be off by more than ±%s, most of it %s.",
		intervalText(ntp.Offsets.P50, "s"), against, unit.Count(ntp.Offsets.N), unit.Format(best.Seconds, "s"), dominant.Name)
}

func (r *runData) tripSentence() string {
	udp := r.summaries["udp"]
	if udp == nil {
		return "Calls: not measured."
	}
	if c := udp.Trips.Counts; c.Answered() == 0 {
		return fmt.Sprintf("Calls: none of %s was answered (%s refused, %s timed out, %s invalid).",
			unit.Count(c.Samples), unit.Count(c.Refused), unit.Count(c.TimedOut), unit.Count(c.Invalid))
	}
	var parts []string
	for i, q := range udp.Trips.Quantiles {
		if _, ok := q.Value.Value(); ok {
			parts = append(parts, analysis.QuantileName(analysis.SummaryQuantiles()[i])+" "+intervalText(q, "s"))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("Calls: too few of %s were answered for any quantile.", unit.Count(udp.Trips.Samples))
	}
	clauses := []string{fmt.Sprintf("Calls: %s took %s", unit.Count(udp.Trips.Samples), strings.Join(parts, ", "))}
	for _, i := range r.Injected {
		clauses = append(clauses, i.String())
	}
	return strings.Join(clauses, "; ") + "."
}

// timeoutSentence names the timeout to use, and what the usual short one would have
// done instead.
func (r *runData) timeoutSentence() string {
	if r.tuned == nil {
		return ""
	}
	c := r.tuned.comparison
	sentences := c.Sentences()
	if chosen := r.tuned.Chosen(); chosen == nil || chosen.Text == "fixed:after="+spec.Duration(c.LongAfter) {
		sentences = sentences[:1] // the long one is told already
	}
	if r.summaries["udp"].Trips.Answered() == 0 {
		return fmt.Sprintf("Timeout: none to recommend: %s.", r.tuned.Unmet)
	}
	if r.tuned.Chosen() == nil {
		return fmt.Sprintf("Timeout: none to recommend: %s; %s.", r.tuned.Unmet, strings.Join(sentences, "; "))
	}
	headline := r.tuned.Headline()
	return fmt.Sprintf("Timeout: %s; %s.", strings.Join(headline[:len(headline)-1], "; "), strings.Join(sentences, "; "))
}

func (r *runData) pauseSentence() string {
	pause := r.summaries["pause"]
	if pause == nil {
		return ""
	}
	observed, _ := pause.Header.Duration(datasets.KeyObserved)
	longest, ok := pause.Pauses.Longest.Value()
	if !ok {
		return fmt.Sprintf("Pauses: none was seen in %s.", unit.Format(observed.Seconds(), "s"))
	}
	return fmt.Sprintf("Pauses: this process was not run for up to %s at a time (%s pauses in %s); a lease margin below that is not safe even with perfect clocks, and a longer watch can only raise it.",
		unit.Format(longest, "s"), unit.Count(pause.Pauses.Count), unit.Format(observed.Seconds(), "s"))
}

// openSentence says what could not be answered and what would answer it.
func (r *runData) openSentence() string {
	var open []string
	for _, w := range r.warnings() {
		if strings.Contains(w, "needs") {
			open = append(open, w)
		}
	}
	if r.tuned != nil {
		open = append(open, "the limits of timeouts take calls as independent, which a freeze is not; what retries do to a queue is not answered")
	}
	if len(open) == 0 {
		return ""
	}
	return "Open: " + strings.Join(open, "; ") + "."
}

// changes is the configuration to copy, with its evidence.
func (r *runData) changes() []page.Snippet {
	if r.tuned == nil || r.tuned.Chosen() == nil {
		return nil
	}
	var b strings.Builder
	for _, line := range r.tuned.Headline() {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	for _, t := range r.Traces {
		if t.Name == "udp" {
			fmt.Fprintf(&b, "# evidence: %s, %s rows, sha256 %s\n", t.File, unit.Count(t.Rows), t.SHA256)
		}
	}
	fmt.Fprintf(&b, "timeout: %s\n", r.tuned.Chosen().Spec)
	return []page.Snippet{{Title: "Timeout of calls to " + r.summaries["udp"].Header.Text(datasets.KeyTarget), Language: "yaml", Text: b.String()}}
}

// warnings are those of all traces and of the replay, each once.
func (r *runData) warnings() []string {
	var all []string
	add := func(prefix string, warnings []string) {
		for _, w := range warnings {
			if w = prefix + w; !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	add("", r.Failed)
	add("", r.doubts)
	for _, t := range r.Traces {
		if sum := r.summaries[t.Name]; sum != nil {
			add(t.Name+": ", sum.Warnings)
		}
	}
	if r.tuned != nil {
		add("timeouts: ", r.tuned.Warnings)
	}
	return all
}

// facts is how the run was made, trace by trace.
func (r *runData) facts() []report.Table {
	run := report.Table{Name: "run", Caption: "The run", Columns: []report.Column{{Name: "fact"}, {Name: "value"}}, Rows: [][]any{
		{"made again by", r.Command}, {"tickmark", r.Tickmark}, {"self-test", r.SelfTest},
	}}
	for _, i := range r.Injected {
		run.Rows = append(run.Rows, []any{"injected", i.String()})
	}
	files := report.Table{Name: "traces", Caption: "The traces; NAME.hgrm beside this page has their answered latencies as HdrHistogram percentiles, in ms", Columns: []report.Column{{Name: "file"}, {Name: "rows", Unit: "count"}, {Name: "sha256"}}}
	tables := []report.Table{run, files}
	for _, t := range r.Traces {
		tables[1].Rows = append(tables[1].Rows, []any{t.File, t.Rows, t.SHA256})
		if r.summaries[t.Name] == nil {
			continue
		}
		h := report.Table{Name: t.Name, Caption: "Header of " + t.File, Columns: []report.Column{{Name: "key"}, {Name: "value"}}}
		for _, f := range r.summaries[t.Name].Header.Fields() {
			h.Rows = append(h.Rows, []any{f.Key, f.Value})
		}
		tables = append(tables, h)
	}
	return tables
}

// intervalText writes "1.54 µs [1.32 µs, 2.02 µs]", and only what is known of it.
func intervalText(i analysis.Interval, u string) string {
	v, ok := i.Value.Value()
	if !ok {
		return unit.Absent
	}
	lo, hasLo := i.Lo.Value()
	hi, hasHi := i.Hi.Value()
	if !hasLo || !hasHi {
		return unit.Format(v, u)
	}
	return fmt.Sprintf("%s [%s, %s]", unit.Format(v, u), unit.Format(lo, u), unit.Format(hi, u))
}
