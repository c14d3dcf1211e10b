package analysis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

// sourced is an exchange with θ and stamps by four sources.
func sourced(theta time.Duration, t1, t2, t3, t4 datasets.Source) *datasets.Exchange {
	return &datasets.Exchange{
		Sample: datasets.Sample{Outcome: datasets.Replied},
		T1:     datasets.NewStamp(0, datasets.Local, t1), T2: datasets.NewStamp(int64(theta)+10, datasets.Remote, t2),
		T3: datasets.NewStamp(int64(theta)+10, datasets.Remote, t3), T4: datasets.NewStamp(20, datasets.Local, t4),
	}
}

func TestStampsAreTheMostFrequent(t *testing.T) {
	var o analysis.OffsetSummary
	for range 9 {
		o.Add(sourced(0, datasets.Kernel, datasets.User, datasets.Hardware, datasets.Kernel))
	}
	o.Add(sourced(0, datasets.User, datasets.User, datasets.User, datasets.Kernel))
	got := o.Summary(.95)
	if got.Stamps != "kernel, user, hardware, kernel" {
		t.Errorf("stamps %q", got.Stamps)
	}
	if !strings.Contains(strings.Join(got.Warnings, "\n"), "1 exchange has stamps of other kinds than T1 to T4 by kernel, user, hardware, kernel") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

// What was asked for and what came may differ: a server that does not interleave gets
// the user's T1 to go with its T3.
func TestABrokenPromiseIsTold(t *testing.T) {
	h := &datasets.Header{}
	h.Set(datasets.KeyStamps, "t1=kernel t4=kernel")
	for _, c := range []struct {
		t1   datasets.Source
		told bool
	}{{datasets.User, true}, {datasets.Kernel, false}} {
		o := analysis.NewOffsetSummary(h)
		o.Add(sourced(0, c.t1, datasets.User, datasets.User, datasets.Kernel))
		if told := strings.Contains(strings.Join(o.Summary(.95).Warnings, "\n"), "T1 was to be by the kernel and is by the user"); told != c.told {
			t.Errorf("T1 by %v: told %v", c.t1, told)
		}
	}
}

func TestStateOfAServer(t *testing.T) {
	refused := &datasets.Exchange{Sample: datasets.Sample{Outcome: datasets.Invalid}, Why: "it lies"}
	rootless := sourced(0, 0, 0, 0, 0)
	rootless.RootDelay, rootless.RootDispersion = datasets.Some(time.Duration(0)), datasets.Some(time.Duration(0))
	sound := func(theta time.Duration) *datasets.Exchange { return sourced(theta, 0, 0, 0, 0) }
	for name, c := range map[string]struct {
		add    func(o *analysis.OffsetSummary)
		state  string
		reason string
	}{
		"sound":              {func(o *analysis.OffsetSummary) { o.Add(sound(time.Millisecond)) }, "good", ""},
		"nothing":            {func(*analysis.OffsetSummary) {}, "silent", "no exchange has an offset"},
		"only lies":          {func(o *analysis.OffsetSummary) { o.Add(refused) }, "refused", "it lies"},
		"lies now and then":  {func(o *analysis.OffsetSummary) { many(o, 97, sound(0)); many(o, 3, refused) }, "doubtful", "3 of 100 replies refused: it lies"},
		"negative delays":    {func(o *analysis.OffsetSummary) { many(o, 3, exchangeOf(1, 0, 250, 0, -500)) }, "refused", "the delay is negative"},
		"a stray in 100":     {func(o *analysis.OffsetSummary) { many(o, 99, sound(0)); o.Add(refused) }, "good", ""},
		"its own reference":  {func(o *analysis.OffsetSummary) { o.Add(rootless) }, "doubtful", "root distance of 0"},
		"TAI":                {func(o *analysis.OffsetSummary) { o.Add(sound(37*time.Second + 1234567)) }, "doubtful", "TAI/UTC mismatch?"},
		"TAI, the other way": {func(o *analysis.OffsetSummary) { o.Add(sound(-37 * time.Second)) }, "doubtful", "TAI/UTC mismatch?"},
		"TAI, and lies":      {func(o *analysis.OffsetSummary) { many(o, 97, sound(37*time.Second)); many(o, 3, refused) }, "doubtful", "TAI/UTC mismatch?; 3 of 100"},
		"TAI at first":       {func(o *analysis.OffsetSummary) { many(o, 11, sound(37*time.Second)); many(o, 9, sound(0)) }, "doubtful", "TAI/UTC mismatch? (of 11 of 20 offsets)"},
		"37.5 s":             {func(o *analysis.OffsetSummary) { o.Add(sound(37500 * time.Millisecond)) }, "good", ""},
		"29 s":               {func(o *analysis.OffsetSummary) { o.Add(sound(29 * time.Second)) }, "good", ""},
		"41 s":               {func(o *analysis.OffsetSummary) { o.Add(sound(41 * time.Second)) }, "good", ""},
	} {
		var o analysis.OffsetSummary
		c.add(&o)
		if got := o.Summary(.95); got.State != c.state || !strings.Contains(got.Why, c.reason) || (c.reason == "") != (got.Why == "") {
			t.Errorf("%s: %s %q, want %s %q", name, got.State, got.Why, c.state, c.reason)
		}
	}
}

func many(o *analysis.OffsetSummary, n int, e *datasets.Exchange) {
	for range n {
		o.Add(e)
	}
}
