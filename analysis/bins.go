package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// BinSummary sums up a histogram trace, all of its intervals together. The zero value is
// ready; it holds 32 bytes a bin that differs from the others.
type BinSummary struct {
	counts map[binEdges]int64
	n      int64
}

type binEdges struct {
	low, high time.Duration
	open      bool // no upper limit
}

// Binned is what the counts of a histogram say, in seconds.
type Binned struct {
	N         int64
	Quantiles []Interval // of SummaryQuantiles; the value is the bin's upper edge, the limits include its width
	Most      datasets.Optional[float64]
	Warnings  []string
}

// Add takes one bin.
func (s *BinSummary) Add(b *datasets.Bin) {
	if s.counts == nil {
		s.counts = map[binEdges]int64{}
	}
	high, bounded := b.High.Value()
	s.counts[binEdges{b.Low, high, !bounded}] += b.Count
	s.n += b.Count
}

// Summary returns the whole. Where bins overlap, a latency may lie in either of them.
func (s *BinSummary) Summary(level float64) Binned {
	out := Binned{N: s.n}
	bins := s.sorted()
	for _, q := range SummaryQuantiles() {
		i := binnedQuantile(bins, s.n, q, level)
		out.Quantiles = append(out.Quantiles, i)
		out.Warnings = append(out.Warnings, i.Warnings...)
	}
	for _, b := range slices.Backward(bins) {
		if b.count > 0 && !b.open {
			out.Most = someSeconds(b.high)
			break
		}
	}
	return out
}

type countedBin struct {
	binEdges
	count, upTo int64 // upTo: in this one and all below it
}

func (s *BinSummary) sorted() []countedBin {
	var bins []countedBin
	for edges, count := range s.counts {
		bins = append(bins, countedBin{binEdges: edges, count: count})
	}
	slices.SortFunc(bins, func(a, b countedBin) int {
		if a.open != b.open {
			if a.open {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low))
	})
	total := int64(0)
	for i := range bins {
		total += bins[i].count
		bins[i].upTo = total
	}
	return bins
}

// binnedQuantile has limits by order statistics, from the lower edge of the bin of one to
// the upper edge of that of the other.
func binnedQuantile(bins []countedBin, n int64, q, level float64) Interval {
	i := Interval{N: n, Level: level, Method: "order statistics of binned values"}
	if n == 0 {
		i.Warnings = []string{QuantileName(q) + ": no value"}
		return i
	}
	at := func(rank int64) countedBin {
		k, _ := slices.BinarySearchFunc(bins, rank, func(b countedBin, rank int64) int { return cmp.Compare(b.upTo, rank) })
		return bins[k]
	}
	lo, hi, _ := OrderRanks(int(n), q, level)
	if lo < 1 || int64(hi) > n {
		i.Warnings = []string{tooFew(q, level, int(n), 0)}
		return i
	}
	i.Lo = someSeconds(at(int64(lo)).low)
	if b := at(int64(hi)); !b.open {
		i.Hi = someSeconds(b.high)
	}
	if b := at(int64(quantileRank(int(n), q))); !b.open {
		i.Value = someSeconds(b.high)
	} else {
		i.Warnings = []string{fmt.Sprintf("%s: lies above %s, where the histogram ends", QuantileName(q), unit.Format(b.low.Seconds(), "s"))}
	}
	return i
}

func binTable() report.Table {
	t := report.Table{Name: "histogram", Caption: "Values are upper edges of bins, and limits include the width of a bin", Columns: []report.Column{
		{Name: "target"}, {Name: "values", Unit: "count"},
	}}
	for _, name := range []string{"p50", "p90", "p99", "p999"} {
		t.Columns = append(t.Columns, intervalColumns(name, "s")...)
	}
	return withColumns(t, report.Column{Name: "max", Unit: "s"})
}

func (s *Summary) binRows() [][]any {
	b := s.Binned
	if b == nil {
		return nil
	}
	row := []any{s.path(), b.N}
	for _, q := range b.Quantiles {
		row = appendInterval(row, q)
	}
	return [][]any{append(row, Cell(b.Most))}
}
