package analysis

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// sourceCount is the number of kinds of stamps: user, kernel, hardware.
const sourceCount = int(datasets.Hardware) + 1

// trust gathers what must be known before offsets are believed: who took the stamps,
// and what the server gave reason to doubt.
type trust struct {
	sources  [sourceCount * sourceCount * sourceCount * sourceCount]int64 // by T1..T4
	zeroRoot int64                                                        // exchanges whose server claims to be its own reference
	tai      int64                                                        // exchanges whose offset looks like TAI's
	why      string                                                       // of the first exchange that was refused
}

// refused notes why an exchange was not to be believed.
func (t *trust) refused(why string) {
	if t.why == "" {
		t.why = why
	}
}

// believed takes an exchange that has an offset.
func (t *trust) believed(e *datasets.Exchange) {
	if theta, _ := e.Offset(); datasets.CountsTAI(theta) {
		t.tai++
	}
	place := 0
	for _, s := range []datasets.Stamp{e.T1, e.T2, e.T3, e.T4} {
		place = place*sourceCount + int(s.Source())
	}
	t.sources[place]++
	delay, ok1 := e.RootDelay.Value()
	dispersion, ok2 := e.RootDispersion.Value()
	if ok1 && ok2 && delay == 0 && dispersion == 0 {
		t.zeroRoot++
	}
}

// stamps names who took T1 to T4 in most exchanges, and how many differ from that.
func (t *trust) stamps() (kinds string, others int64) {
	most, total := 0, int64(0)
	for place, n := range t.sources {
		total += n
		if n > t.sources[most] {
			most = place
		}
	}
	if total == 0 {
		return "", 0
	}
	words := make([]string, 4)
	for i, place := 3, most; i >= 0; i, place = i-1, place/sourceCount {
		words[i] = datasets.Source(place % sourceCount).String()
	}
	return strings.Join(words, ", "), total - t.sources[most]
}

// broken says that T1 is not by the one who was to stamp it, as in "t1=kernel t4=kernel".
func broken(promise, kinds string) string {
	promised, ok := strings.CutPrefix(promise, "t1=")
	if !ok || kinds == "" {
		return ""
	}
	promised, _, _ = strings.Cut(promised, " ")
	if is, _, _ := strings.Cut(kinds, ","); is != promised {
		return fmt.Sprintf("offset: T1 was to be by the %s and is by the %s in most exchanges: the server does not interleave, or stamps were missing", promised, is)
	}
	return ""
}

// The states of a server, as far as its exchanges tell.
const (
	stateGood     = "good"
	stateDoubtful = "doubtful"
	stateRefused  = "refused"
	stateSilent   = "silent"
)

// strayShare is how many refused replies are put down to the network: one in a hundred.
const strayShare = 0.01

// state says whether the server is to be believed, in one word, and why not.
func (t *trust) state(n, refused int64) (state, why string) {
	switch {
	case n == 0 && refused > 0:
		return stateRefused, t.why
	case n == 0:
		return stateSilent, "no exchange has an offset"
	}
	if doubts := t.doubts(n, refused); doubts != nil {
		return stateDoubtful, strings.Join(doubts, "; ")
	}
	return stateGood, ""
}

// doubts are the reasons not to believe a server that has offsets.
func (t *trust) doubts(n, refused int64) (doubts []string) {
	switch {
	case t.tai == n:
		doubts = append(doubts, "TAI/UTC mismatch?")
	case float64(t.tai) > strayShare*float64(n):
		doubts = append(doubts, fmt.Sprintf("TAI/UTC mismatch? (of %s of %s offsets)", unit.Count(t.tai), unit.Count(n)))
	}
	if float64(refused) > strayShare*float64(n+refused) {
		doubts = append(doubts, fmt.Sprintf("%s of %s replies refused: %s", unit.Count(refused), unit.Count(n+refused), t.why))
	}
	if t.zeroRoot > 0 {
		doubts = append(doubts, "the server claims a root distance of 0, as if it were UTC itself: the bound holds against that server only")
	}
	return doubts
}

// CountsTAI is datasets.CountsTAI of an offset in seconds.
func CountsTAI(theta float64) bool {
	return math.Abs(theta) < 100 && datasets.CountsTAI(time.Duration(theta*float64(time.Second)))
}

// warnings says what the stamps and the server give to think of.
func (t *trust) warnings(state, why string) []string {
	var w []string
	if kinds, others := t.stamps(); others > 0 {
		w = append(w, fmt.Sprintf("offset: %s stamps of other kinds than T1 to T4 by %s: their error is another",
			counted(others, "exchange has", "exchanges have"), kinds))
	}
	if state == stateDoubtful || state == stateRefused {
		w = append(w, fmt.Sprintf("offset: %s: %s", state, why))
	}
	return w
}
