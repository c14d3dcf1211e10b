package adaptive_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/adaptive"
)

// One of anything is said in the singular.
func TestOneIsSingular(t *testing.T) {
	samples := freeze(1)
	clustered := adaptive.Decide(candidates(t, 5*time.Second, samples, "fixed:after=50ms"), adaptive.Goal{}).Warnings
	if !slices.ContainsFunc(clustered, func(w string) bool { return strings.Contains(w, "stand in 1 run, so") }) {
		t.Errorf("739 calls in one freeze: warnings %q", clustered)
	}
	w := adaptive.NewWhatIf(409*time.Millisecond, time.Second, 5*time.Second)
	w.Add(&samples[600]) // due as the freeze begins, and answered 410 ms later
	c := w.Finish([]adaptive.Span{{From: samples[600].Due, To: samples[1400].Due}})
	got := c.Sentences()[0]
	const want = "a timeout of 409 ms gives up on 1 call that is answered, within the freeze of 400 ms at 300 ms (false positives 100 % ["
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "] of 1 attempt)") {
		t.Errorf("of one call: %q, want it to begin %q", got, want)
	}
}
