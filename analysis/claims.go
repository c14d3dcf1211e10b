package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// ClaimSummary sums up a claim trace, each source for itself. The zero value is ready.
type ClaimSummary struct {
	sources []*claimed
	named   map[string]*claimed
}

// claimed is what one source said.
type claimed struct {
	name           string
	n, doubted     int64
	statuses, whys tally
	offsets        ranks
	bounds         ranks
	oldest         datasets.Optional[time.Duration]
}

// Claims is what the time daemons of a host say, in seconds. There are no intervals:
// what was said is known in full, and whether it holds is for an audit.
type Claims struct {
	Sources  []SourceClaims // in the order in which they first spoke
	Warnings []string
}

// SourceClaims is what one source said. Offset follows θ: positive when it takes the
// local clock to be slow.
type SourceClaims struct {
	Source   string
	N        int64
	Status   string // one word, or each word with how often it was said
	Offset   datasets.Optional[float64]
	Bound    datasets.Optional[float64] // median of those that were claimed
	BoundMax datasets.Optional[float64]
	AgeMax   datasets.Optional[float64] // longest time since it had heard its own source
	Doubted  int64                      // claims with a reason not to believe them
}

// Add takes one claim.
func (c *ClaimSummary) Add(row *datasets.Claim) {
	s := c.source(row.Source)
	s.n++
	s.statuses.add(string(row.Status))
	if row.Why != "" {
		s.doubted++
		s.whys.add(row.Why)
	}
	if v, ok := row.Offset.Value(); ok {
		s.offsets.add(v)
	}
	if v, ok := row.Bound.Value(); ok {
		s.bounds.add(v)
	}
	if v, ok := row.Age.Value(); ok {
		oldest, _ := s.oldest.Value()
		s.oldest = datasets.Some(max(v, oldest))
	}
}

func (c *ClaimSummary) source(name string) *claimed {
	s, known := c.named[name]
	if !known {
		if c.named == nil {
			c.named = map[string]*claimed{}
		}
		s = &claimed{name: name}
		c.named[name] = s
		c.sources = append(c.sources, s)
	}
	return s
}

// Summary returns the whole.
func (c *ClaimSummary) Summary() Claims {
	var out Claims
	for _, s := range c.sources {
		sum := SourceClaims{
			Source: s.name, N: s.n, Status: s.statuses.text(), Doubted: s.doubted,
			Offset: s.offsets.median(), Bound: s.bounds.median(),
		}
		if n := s.bounds.len(); n > 0 {
			sum.BoundMax = someSeconds(s.bounds.at(n))
		}
		if v, ok := s.oldest.Value(); ok {
			sum.AgeMax = someSeconds(v)
		}
		out.Sources = append(out.Sources, sum)
		out.Warnings = append(out.Warnings, s.warnings()...)
	}
	return out
}

// median returns the lower median, in seconds.
func (r *ranks) median() datasets.Optional[float64] {
	if r.len() == 0 {
		return datasets.Optional[float64]{}
	}
	return someSeconds(r.at((r.len() + 1) / 2))
}

// mostReasons are named for each source; a sick daemon has many.
const mostReasons = 3

func (s *claimed) warnings() []string {
	var out []string
	for i, why := range s.whys.words {
		if i == mostReasons {
			rest := counted(int64(len(s.whys.words)-i), "other reason", "other reasons")
			return append(out, fmt.Sprintf("%s: %s not to believe it", s.name, rest))
		}
		claims := counted(s.whys.n[why], "claim", "claims")
		out = append(out, fmt.Sprintf("%s: %s of %d not to be believed: %s", s.name, claims, s.n, why))
	}
	return out
}

// tally counts words, and keeps the order in which they first came.
type tally struct {
	words []string
	n     map[string]int64
}

func (t *tally) add(word string) {
	if t.n == nil {
		t.n = map[string]int64{}
	}
	if t.n[word] == 0 {
		t.words = append(t.words, word)
	}
	t.n[word]++
}

// text returns the only word, or all with their counts, the most frequent first.
func (t *tally) text() string {
	if len(t.words) == 1 {
		return t.words[0]
	}
	sorted := slices.Clone(t.words)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(t.n[b], t.n[a]) })
	for i, word := range sorted {
		sorted[i] = fmt.Sprintf("%s %d", word, t.n[word])
	}
	return strings.Join(sorted, ", ")
}
