package adaptive_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/adaptive"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

func candidates(tb testing.TB, listen time.Duration, samples []datasets.Sample, specs ...string) []adaptive.Candidate {
	tb.Helper()
	tuner, err := adaptive.NewTuner(specs, listen)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range samples {
		tuner.Add(&samples[i])
	}
	return tuner.Finish()
}

func atMost(share float64) adaptive.Goal {
	return adaptive.Goal{MaxFalsePositives: datasets.Some(share)}
}

func within(d time.Duration) adaptive.Goal { return adaptive.Goal{MaxDetection: datasets.Some(d)} }

func TestTunerIsManyReplays(t *testing.T) {
	samples := bursty(rand.New(rand.NewPCG(1, 2)), 3000)
	for _, c := range candidates(t, listen, samples) {
		one := replay(estimator(t, c.Text), listen, samples)
		if diff := cmp.Diff(fmt.Sprintf("%+v", one), fmt.Sprintf("%+v", c.Score)); diff != "" {
			t.Errorf("%s: %s", c.Text, diff)
		}
		if _, canonical, _ := adaptive.Estimators().Parse("estimator", c.Text); canonical != c.Spec {
			t.Errorf("spec %s, want %s", c.Spec, canonical)
		}
	}
}

func TestTunerRefusesABadSpec(t *testing.T) {
	_, err := adaptive.NewTuner([]string{"fixed:after=0s"}, 0)
	var usage *spec.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "after must be positive") {
		t.Errorf("error %v", err)
	}
}

func TestDecideOnTheLesson(t *testing.T) {
	specs := []string{"fixed:after=50ms", "fixed:after=410ms", "fixed:after=500ms", "fixed:after=1s"}
	all := candidates(t, 5*time.Second, freeze(3), specs...)
	tests := []struct {
		name string
		goal adaptive.Goal
		want string
	}{
		{"default: noticed soonest of those without false positives", adaptive.Goal{}, "fixed:after=410ms"},
		{"few enough", atMost(.001), "fixed:after=410ms"},
		{"half may be cut off", atMost(.5), "fixed:after=50ms"},
		{"seen none, but 6,000 calls do not show so little", atMost(.0001), ""},
		{"quick: the fewest false positives in time", within(600 * time.Millisecond), "fixed:after=410ms"},
		{"quicker", within(60 * time.Millisecond), "fixed:after=50ms"},
		{"too quick", within(time.Millisecond), ""},
		{"both", adaptive.Goal{MaxFalsePositives: datasets.Some(.001), MaxDetection: datasets.Some(time.Second)}, "fixed:after=410ms"},
		{"both cannot be", adaptive.Goal{MaxFalsePositives: datasets.Some(.001), MaxDetection: datasets.Some(100 * time.Millisecond)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tuning := adaptive.Decide(all, tt.goal)
			chosen := ""
			if c := tuning.Chosen(); c != nil {
				chosen = c.Text
			}
			if chosen != tt.want {
				t.Errorf("chose %q, want %q", chosen, tt.want)
			}
			if unmet := slices.ContainsFunc(tuning.Warnings, func(w string) bool { return strings.HasPrefix(w, "goal: ") }); unmet != (tt.want == "") {
				t.Errorf("warnings %q", tuning.Warnings)
			}
		})
	}
	for _, c := range adaptive.Decide(all, adaptive.Goal{}).Candidates {
		// 500 ms and 1 s cut off no fewer calls than 410 ms and notice later.
		if want := c.Text == "fixed:after=50ms" || c.Text == "fixed:after=410ms"; c.Pareto != want {
			t.Errorf("%s: pareto %v, want %v", c.Text, c.Pareto, want)
		}
	}
}

func TestParetoFront(t *testing.T) {
	at := func(falsePositives int64, p99 float64) adaptive.Candidate {
		return adaptive.Candidate{Text: fmt.Sprint(falsePositives, p99), Score: adaptive.Score{
			Attempts: 1000, FalsePositives: falsePositives, DetectionP99: datasets.Some(p99),
		}}
	}
	want := map[string]bool{}
	var all []adaptive.Candidate
	for _, c := range []struct {
		falsePositives int64
		p99            float64
		pareto         bool
	}{{0, .5, true}, {0, .6, false}, {1, .5, false}, {5, .1, true}, {5, .1, true}, {6, .2, false}, {100, .05, true}} {
		all = append(all, at(c.falsePositives, c.p99))
		want[all[len(all)-1].Text] = c.pareto
	}
	never := adaptive.Candidate{Text: "never noticed"}
	for _, c := range adaptive.Decide(append(all, never), atMost(.1)).Candidates {
		if c.Pareto != want[c.Text] {
			t.Errorf("%s: %v", c.Text, c.Pareto)
		}
	}
}

// The least n that shows a share with none seen is that of an order statistic: both
// ask when (1−share)^n falls to .025.
func TestDecideNeedsAsManyAsAnOrderStatistic(t *testing.T) {
	samples := make([]datasets.Sample, 3688)
	for i := range samples {
		samples[i] = sample(i, time.Duration(i)*time.Millisecond, time.Millisecond)
	}
	for n, missing := range map[int]bool{3687: true, 3688: false} {
		tuning := adaptive.Decide(candidates(t, time.Second, samples[:n], "fixed"), adaptive.Goal{})
		if got := len(tuning.Warnings) > 0; got != missing {
			t.Errorf("%d attempts: warnings %q", n, tuning.Warnings)
		}
	}
}

func TestDecideSaysWhatIsMissing(t *testing.T) {
	samples := freeze(3)
	all := candidates(t, 5*time.Second, samples, "fixed:after=50ms", "fixed:after=410ms")
	tests := []struct {
		all  []adaptive.Candidate
		goal adaptive.Goal
		want string
	}{
		{all, atMost(.0001), "goal: no false positive at all in 6,000 attempts does not show at most 0.01 %; that takes 36,887 attempts; nearest is fixed:after=410ms"},
		{all, within(time.Millisecond), "goal: no estimator tried notices a dead peer within 1 ms (p99)"},
		{all[:1], atMost(.001), "goal: nothing tried meets the goal; nearest is fixed:after=50ms, false positives 37.0 % [35.7, 38.2] of 6,000 attempts"},
		{all, adaptive.Goal{}, "slow calls come together: the 2,217 false positives of fixed:after=50ms stand in 3 runs, so limits that take calls as independent are too narrow"},
	}
	for _, tt := range tests {
		if got := adaptive.Decide(tt.all, tt.goal).Warnings; len(got) == 0 || got[0] != tt.want {
			t.Errorf("%v: warnings %q, want %q first", tt.goal, got, tt.want)
		}
	}
	// The default goal binds like any other: what is not shown is not recommended.
	few := adaptive.Decide(candidates(t, 5*time.Second, samples[:400], "fixed:after=410ms", "fixed:after=20ms"), adaptive.Goal{})
	if c := few.Chosen(); c != nil || !strings.HasSuffix(few.Warnings[0], "that takes 3,688 attempts; nearest is fixed:after=20ms") {
		t.Errorf("of 400 calls before the first freeze: %+v, warnings %q", c, few.Warnings)
	}
}

func TestDecideSaysOnceWhatIsUndecided(t *testing.T) {
	samples := bursty(rand.New(rand.NewPCG(5, 6)), 2000)
	tuning := adaptive.Decide(candidates(t, listen, samples, "fixed:after=3s", "fixed:after=4s", "fixed:after=1s"), adaptive.Goal{})
	said := 0
	for _, w := range tuning.Warnings {
		if strings.Contains(w, "undecided") {
			said++
		}
	}
	if said != 1 || !slices.Contains(tuning.Warnings, "undecided: fixed:after=3s (and 1 more) waited longer than the trace listened; what was not answered by then counts against it in the upper limit") {
		t.Errorf("warnings %q", tuning.Warnings)
	}
}

func TestHeadline(t *testing.T) {
	all := candidates(t, 5*time.Second, freeze(3), "fixed:after=50ms", "fixed:after=410ms")
	// 1−.025^(1/6000) = .0615 %; a call every .5 ms adds up to .5 ms of waiting.
	want := []string{
		"use fixed:after=410ms: false positives 0 % [0, 0.0615] of 6,000 attempts",
		"a dead peer is noticed after 410 ms (p50), 410 ms (p99)",
		"goal: false positives at most 0.1 % (upper limit), the default; then noticed soonest",
	}
	if diff := cmp.Diff(want, adaptive.Decide(all, adaptive.Goal{}).Headline()); diff != "" {
		t.Error(diff)
	}
	both := adaptive.Goal{MaxFalsePositives: datasets.Some(.0001), MaxDetection: datasets.Some(time.Second)}
	want = []string{
		"no timeout to recommend",
		"goal: false positives at most 0.01 % (upper limit) and a dead peer noticed within 1 s (p99); then noticed soonest",
	}
	if diff := cmp.Diff(want, adaptive.Decide(all, both).Headline()); diff != "" {
		t.Error(diff)
	}
}

func TestEstimatorsTable(t *testing.T) {
	table := adaptive.Decide(candidates(t, 5*time.Second, freeze(3), "fixed:after=50ms", "fixed:after=410ms"), adaptive.Goal{}).Table()
	var names []string
	for _, c := range table.Columns {
		names = append(names, c.Name)
	}
	// The output contract.
	want := "estimator false_positives false_positives_lo false_positives_hi false_positives_iid_lo false_positives_iid_hi" +
		" timeout_p50 timeout_p99 detection_p50 detection_p99 undecided retries_added collapses stale pareto chosen"
	if got := strings.Join(names, " "); table.Name != "estimators" || got != want {
		t.Errorf("%s: %s\nwant %s", table.Name, got, want)
	}
	row := table.Rows[1]
	if row[0] != "fixed:after=50ms" || row[1] != 2217./6000 || row[2] != nil || row[3] != nil || row[6] != .05 || row[11] != 2217./6000 || row[14] != true || row[15] != false {
		t.Errorf("%v", row)
	}
	if table.Rows[0][15] != true {
		t.Errorf("the chosen one does not stand first: %v", table.Rows[0])
	}
}

func TestTuneReadsATrace(t *testing.T) {
	samples := freeze(2)
	h := &datasets.Header{}
	h.Set(datasets.KeyKind, string(datasets.RTT))
	h.SetDuration(datasets.KeyListen, 5*time.Second)
	var b bytes.Buffer
	w, err := datasets.NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range samples {
		if err := w.Write(&samples[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil { // cut off: no end line
		t.Fatal(err)
	}
	rows, err := datasets.Open("x.trace", &b, nil)
	if err != nil {
		t.Fatal(err)
	}
	tuning, err := adaptive.Tune(rows, nil, adaptive.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tuning.Candidates) != len(adaptive.Sweep()) || tuning.Candidates[0].Attempts != 4000 {
		t.Errorf("%d candidates, %d attempts", len(tuning.Candidates), tuning.Candidates[0].Attempts)
	}
	if len(tuning.Warnings) == 0 || !strings.Contains(tuning.Warnings[0], "cut off") {
		t.Errorf("warnings %q", tuning.Warnings)
	}
}

func TestTuneOfNothing(t *testing.T) {
	tuning := adaptive.Decide(candidates(t, 0, nil, "fixed", "jacobson"), adaptive.Goal{})
	if tuning.Chosen() != nil || len(tuning.Warnings) == 0 {
		t.Errorf("%+v", tuning)
	}
	for _, row := range tuning.Table().Rows {
		for i, cell := range row[1:14] {
			if cell != nil {
				t.Errorf("cell %d is %v", i+1, cell)
			}
		}
	}
}

func TestWhatIfOnTheLesson(t *testing.T) {
	w := adaptive.NewWhatIf(50*time.Millisecond, 500*time.Millisecond, 5*time.Second)
	samples := freeze(3)
	for i := range samples {
		w.Add(&samples[i])
	}
	at := func(d time.Duration) datasets.Instant { return datasets.Instant(d) }
	freezes := []adaptive.Span{
		{From: at(300 * time.Millisecond), To: at(700 * time.Millisecond)},
		{From: at(1300 * time.Millisecond), To: at(1700 * time.Millisecond)},
		{From: at(2300 * time.Millisecond), To: at(2700 * time.Millisecond)},
		{From: at(2900 * time.Millisecond), To: at(2905 * time.Millisecond)}, // held nobody up for long
	}
	c := w.Finish(freezes)
	if len(c.Bursts) != 3 || c.Bursts[1].Calls != 739 || c.Held != 2217 || len(c.Freezes) != 3 {
		t.Fatalf("%+v", c)
	}
	// The first to be held was due 9.5 ms before the freeze, the last answered 10 ms after
	// it… of those over 50 ms.
	if b := c.Bursts[1]; b.From != at(1290500*time.Microsecond) || b.To != at(1710*time.Millisecond) {
		t.Errorf("the second burst is %v to %v", time.Duration(b.From), time.Duration(b.To))
	}
	want := []string{
		"a timeout of 50 ms gives up on 2,217 calls that are answered, all within 3 freezes (false positives 37.0 % [35.7, 38.2] of 6,000 attempts)",
		"500 ms gives up on none (false positives 0 % [0, 0.0615] of 6,000 attempts), and a dead peer is noticed after 500 ms (p50), 500 ms (p99) instead of 50.2 ms, 50.5 ms",
	}
	if diff := cmp.Diff(want, c.Sentences()); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIfWords(t *testing.T) {
	tests := []struct {
		freezes []adaptive.Span
		want    string
	}{
		{nil, "gives up on 739 calls that are answered, in 1 burst ("},
		{[]adaptive.Span{{From: 300e6, To: 700e6}}, "gives up on 739 calls that are answered, all within the freeze of 400 ms at 300 ms ("},
		{[]adaptive.Span{{From: 705e6, To: 706e6}}, "of them within the freeze of 1 ms at 705 ms ("},
	}
	for _, tt := range tests {
		w := adaptive.NewWhatIf(50*time.Millisecond, 500*time.Millisecond, 5*time.Second)
		samples := freeze(1)
		for i := range samples {
			w.Add(&samples[i])
		}
		c := w.Finish(tt.freezes)
		if got := c.Sentences()[0]; !strings.Contains(got, tt.want) {
			t.Errorf("got %q, want it to say %q", got, tt.want)
		}
	}
	calm := adaptive.NewWhatIf(50*time.Millisecond, 500*time.Millisecond, 0).Finish(nil)
	if got := calm.Sentences()[0]; got != "a timeout of 50 ms gives up on no call that is answered (false positives – % [–, –] of 0 attempts)" {
		t.Errorf("of nothing: %q", got)
	}
}

func BenchmarkTuneSweep(b *testing.B) {
	samples := freeze(60)
	for b.Loop() {
		if all := candidates(b, 5*time.Second, samples); all[0].Attempts != int64(len(samples)) {
			b.Fatal(all[0].Attempts)
		}
	}
	perSample(b, len(samples))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(samples)*len(adaptive.Sweep())), "ns/sample/estimator")
}

func TestNothingAnsweredIsNothingToRecommend(t *testing.T) {
	for _, tt := range []struct {
		outcome datasets.Outcome
		want    string
	}{
		{datasets.Refused, "goal: none of 0 attempts was answered"},
		{datasets.TimedOut, "goal: none of 5,000 attempts was answered"},
	} {
		samples := make([]datasets.Sample, 5000)
		for i := range samples {
			due := datasets.Instant(i) * datasets.Instant(time.Millisecond)
			samples[i] = datasets.Sample{Seq: int64(i), Due: due, Sent: due, Attempt: 1, Outcome: tt.outcome}
		}
		got := adaptive.Decide(candidates(t, 5*time.Second, samples, "fixed:after=10ms", "jacobson"), adaptive.Goal{})
		if got.Chosen() != nil || len(got.Warnings) == 0 || got.Warnings[0] != tt.want {
			t.Errorf("%s: chosen %v, warnings %q; want %q", tt.outcome, got.Chosen(), got.Warnings, tt.want)
		}
	}
}
