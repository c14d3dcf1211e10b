package adaptive_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/adaptive"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec/spectest"
)

func estimator(tb testing.TB, text string) adaptive.Estimator {
	tb.Helper()
	e, _, err := adaptive.Estimators().Parse("estimator", text)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// replaceOnce is strings.Replace of one.
func replaceOnce(s, from, to string) string { return strings.Replace(s, from, to, 1) }

func TestEstimatorsContract(t *testing.T) { spectest.Check(t, "estimator", adaptive.Estimators()) }

func sample(seq int, due, latency time.Duration) datasets.Sample {
	return datasets.Sample{
		Seq: int64(seq), Call: int64(seq), Attempt: 1, Due: datasets.Instant(due), Sent: datasets.Instant(due), Elapsed: latency, Copies: 1,
	}
}

func lost(seq int, due time.Duration) datasets.Sample {
	s := sample(seq, due, 0)
	s.Outcome, s.Copies = datasets.TimedOut, 0
	return s
}

func replay(e adaptive.Estimator, listen time.Duration, samples []datasets.Sample) adaptive.Score {
	r := adaptive.NewReplay(e, listen)
	for i := range samples {
		r.Add(&samples[i])
	}
	return r.Finish()
}

// freeze is the lesson's server (reference, timeouts §0.1): 2,000 calls a second of
// 10 ms each; the world stops for 400 ms once a second. Calls arriving meanwhile wait
// for the end, those in service are held too.
func freeze(seconds int) []datasets.Sample {
	const period, service, pause, begin = 500 * time.Microsecond, 10 * time.Millisecond, 400 * time.Millisecond, 300 * time.Millisecond
	samples := make([]datasets.Sample, 0, 2000*seconds)
	for i := range 2000 * seconds {
		due := time.Duration(i) * period
		into := due % time.Second
		latency := service
		switch {
		case into >= begin && into < begin+pause:
			latency = begin + pause - into + service
		case into < begin && into+service > begin:
			latency = service + pause
		}
		samples = append(samples, sample(i, due, latency))
	}
	return samples
}

func TestLessonFreeze(t *testing.T) {
	// λ(P−τ+s) = 720 that arrive in the pause, and 19 caught in service, an answer at
	// exactly the deadline being in time. At τ = P+s nothing is left.
	const seconds = 3
	samples := freeze(seconds)
	for after, want := range map[string]int64{"50ms": 739, "10ms": 819, "409ms": 21, "410ms": 0, "500ms": 0, "9999µs": 2000} {
		s := replay(estimator(t, "fixed:after="+after), 5*time.Second, samples)
		if s.FalsePositives != want*seconds || s.Attempts != 2000*seconds || s.Firings != s.FalsePositives || s.Undecided != 0 {
			t.Errorf("%s: %d false positives of %d, want %d; firings %d, undecided %d",
				after, s.FalsePositives, s.Attempts, want*seconds, s.Firings, s.Undecided)
		}
	}
}

func value(t *testing.T, name string, o datasets.Optional[float64]) float64 {
	t.Helper()
	v, ok := o.Value()
	if !ok {
		t.Fatalf("%s is absent", name)
	}
	return v
}

func checkNear(t *testing.T, name string, o datasets.Optional[float64], want, within float64) {
	t.Helper()
	if got := value(t, name, o); !(math.Abs(got-want) <= within) {
		t.Errorf("%s = %v, want %v ± %v", name, got, want, within)
	}
}

func TestDetectionOfAFixedTimeout(t *testing.T) {
	// Attempts every 100 ms, timeout 50 ms: the wait for the next call is uniform over
	// 0…100 ms, the timeout follows it.
	var samples []datasets.Sample
	for i := range 1000 {
		samples = append(samples, sample(i, time.Duration(i)*100*time.Millisecond, time.Millisecond))
	}
	s := replay(estimator(t, "fixed:after=50ms"), time.Second, samples)
	checkNear(t, "detection p50", s.DetectionP50, .050+.050, 1e-9)
	checkNear(t, "detection p99", s.DetectionP99, .050+.099, 1e-9)
	checkNear(t, "timeout p50", s.TimeoutP50, .050, 0)
	checkNear(t, "timeout p99", s.TimeoutP99, .050, 0)
	checkNear(t, "timeout mean", s.TimeoutMean, .050, 1e-12)
}

// scripted sets timeouts by a list and keeps a log of what it was asked and told.
type scripted struct {
	timeouts []time.Duration
	asked    int
	log      []string
}

func (s *scripted) Timeout(at datasets.Instant) time.Duration {
	s.log = append(s.log, fmt.Sprint("ask ", int64(at)))
	s.asked++
	return s.timeouts[(s.asked-1)%len(s.timeouts)]
}

func (s *scripted) Observe(o adaptive.Observation) {
	s.log = append(s.log, fmt.Sprintf("tell %d: attempt %d took %d, censored %v", o.At, o.Attempt, o.Latency, o.Censored))
}

// The twin walks through the definition: for many crash instants, the least firing of
// every attempt due later.
func TestDetectionAgainstItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 2 + r.IntN(30)
		due := make([]time.Duration, n)
		timeouts := make([]time.Duration, n)
		for i := range n {
			due[i] = time.Duration(r.IntN(50)) * 20 * time.Millisecond // ties are common
			timeouts[i] = time.Duration(1+r.IntN(2000)) * time.Millisecond
		}
		slices.Sort(due)
		due[n-1] += 20 * time.Millisecond
		samples := make([]datasets.Sample, n)
		for i := range n {
			samples[i] = sample(i, due[i], 0)
		}
		got := replay(&scripted{timeouts: timeouts}, 5*time.Second, samples)
		var times []float64
		const step = 100 * time.Microsecond
		for x := due[0] + step/2; x < due[n-1]; x += step {
			first := time.Duration(math.MaxInt64)
			for i := range n {
				if due[i] > x {
					first = min(first, due[i]+timeouts[i])
				}
			}
			times = append(times, (first - x).Seconds())
		}
		slices.Sort(times)
		// One step of the twin, and a bucket's width where its ends are not at one point.
		// Where half of the instants lie on either side of a gap, any time in it is right.
		for q, o := range map[float64]datasets.Optional[float64]{.5: got.DetectionP50, .99: got.DetectionP99} {
			k := int(q * float64(len(times)))
			lo, hi := times[max(k-2, 0)], times[min(k+1, len(times)-1)]
			checkNear(t, fmt.Sprint("detection ", q), o, (lo+hi)/2, (hi-lo)/2+2*step.Seconds()+hi/128)
		}
	}
}

func TestReplayIsCausal(t *testing.T) {
	e := &scripted{timeouts: []time.Duration{time.Second}}
	retry := sample(2, 30, 5)
	retry.Attempt = 2
	refused := sample(3, 31, 0)
	refused.Outcome = datasets.Refused
	samples := []datasets.Sample{
		sample(0, 10, 20), // arrives at 30, the instant the third is due: it counts
		lost(1, 20),       // known at 20 + 100
		retry,             // arrives at 35
		refused,           // sent, never learned from
		sample(4, 130, 1), // all are known
	}
	s := replay(e, 100, samples)
	want := []string{
		"ask 10", "ask 20", "tell 30: attempt 1 took 20, censored false", "ask 30", "ask 31",
		"tell 35: attempt 2 took 5, censored false", "tell 120: attempt 1 took 100, censored true", "ask 130",
	}
	if diff := cmp.Diff(want, e.log); diff != "" {
		t.Error(diff)
	}
	if s.Attempts != 4 || s.Firings != 1 || s.FalsePositives != 0 || s.Undecided != 1 {
		t.Errorf("%+v", s)
	}
}

func TestReplayWithoutListen(t *testing.T) {
	e := &scripted{timeouts: []time.Duration{1}}
	bounded := lost(1, 20)
	bounded.Deadline = datasets.Some(time.Duration(15))
	s := replay(e, 0, []datasets.Sample{
		lost(0, 10), // nothing is ever known of it
		bounded,     // was not answered within its deadline
		sample(2, 40, 1),
	})
	want := []string{"ask 10", "ask 20", "tell 35: attempt 1 took 15, censored true", "ask 40"}
	if diff := cmp.Diff(want, e.log); diff != "" {
		t.Error(diff)
	}
	if s.Attempts != 3 || s.Firings != 2 || s.Undecided != 1 {
		t.Errorf("%+v", s)
	}
	if want := "replay: 1 of 3 attempts had no answer within a time the trace does not tell, and the timeout was longer: undecided"; s.Warnings[0] != want {
		t.Errorf("warning %q, want %q", s.Warnings[0], want)
	}
}

func TestWatchSeesEveryVerdictInOrder(t *testing.T) {
	refused := sample(2, 30, 0)
	refused.Outcome = datasets.Refused
	slow, exact := sample(0, 10, 21), sample(3, 40, 20)
	r := adaptive.NewReplay(&scripted{timeouts: []time.Duration{20}}, 100)
	var got []adaptive.Verdict
	r.Watch(func(v adaptive.Verdict) { got = append(got, v) })
	other := lost(1, 20)
	for _, s := range []*datasets.Sample{&refused, &slow, &exact, &other} {
		r.Add(s)
	}
	score := r.Finish()
	want := []adaptive.Verdict{
		{At: 10, Timeout: 20, Latency: 21, FalsePositive: true},
		{At: 20, Timeout: 20, Latency: 100}, // not answered: the timeout was right
		{At: 30, Timeout: 20},
		{At: 40, Timeout: 20, Latency: 20},
	}
	if diff := cmp.Diff(want, got); diff != "" || score.FalsePositives != 1 {
		t.Errorf("%d false positives; %s", score.FalsePositives, diff)
	}
}

func TestUndecidedWidensTheUpperLimit(t *testing.T) {
	var samples []datasets.Sample
	for i := range 1000 {
		samples = append(samples, sample(i, time.Duration(i)*time.Millisecond, 10*time.Millisecond))
	}
	for i := range 10 {
		samples[i*100] = lost(i*100, time.Duration(i*100)*time.Millisecond)
	}
	shorter := replay(estimator(t, "fixed:after=200ms"), 200*time.Millisecond, samples)
	longer := replay(estimator(t, "fixed:after=201ms"), 200*time.Millisecond, samples)
	if shorter.Undecided != 0 || shorter.Firings != 10 || len(shorter.Warnings) != 0 {
		t.Errorf("at the listening time: %+v", shorter)
	}
	if longer.Undecided != 10 || longer.Firings != 10 || len(longer.Warnings) != 1 {
		t.Errorf("beyond it: %+v", longer)
	}
	// R: binom.test(0, 1000) and binom.test(10, 1000): upper limits .003682, .018313.
	checkNear(t, "upper limit", shorter.Share.Hi, .0036821, 1e-6)
	checkNear(t, "upper limit", longer.Share.Hi, .0183130, 1e-6)
	checkNear(t, "lower limit", longer.Share.Lo, 0, 0)
	checkNear(t, "retries added", longer.RetriesAdded(), .010, 0)
	want := "replay: 10 of 1,000 attempts had no answer within 200 ms, where listening stopped, and the timeout was longer: undecided"
	if longer.Warnings[0] != want {
		t.Errorf("warning %q, want %q", longer.Warnings[0], want)
	}
}

func TestReplayOfNothing(t *testing.T) {
	s := replay(estimator(t, "jacobson"), time.Second, nil)
	if _, ok := s.Share.Value.Value(); ok || s.Attempts != 0 {
		t.Errorf("%+v", s)
	}
	for name, o := range map[string]datasets.Optional[float64]{
		"timeout": s.TimeoutP50, "mean": s.TimeoutMean, "detection": s.DetectionP99, "retries": s.RetriesAdded(), "undecided": s.UndecidedShare(),
	} {
		if v, ok := o.Value(); ok {
			t.Errorf("%s is %v, want absent", name, v)
		}
	}
	one := replay(estimator(t, "fixed"), time.Second, []datasets.Sample{sample(0, 0, 1)})
	if _, ok := one.DetectionP50.Value(); ok {
		t.Error("a detection time although no time passed")
	}
}

// bursty is a trace with a slow tail, freezes, and attempts that are never answered.
func bursty(r *rand.Rand, n int) []datasets.Sample {
	samples := make([]datasets.Sample, n)
	due, frozen := time.Duration(0), time.Duration(0)
	for i := range n {
		due += time.Duration(1e6 * r.ExpFloat64())
		latency := time.Duration(10e6 * math.Exp(.5*r.NormFloat64()))
		if r.IntN(300) == 0 {
			frozen = due + time.Duration(r.IntN(400))*time.Millisecond
		}
		samples[i] = sample(i, due, max(latency, frozen-due+latency))
		if r.IntN(200) == 0 {
			samples[i] = lost(i, due)
		}
	}
	return samples
}

const listen = 2 * time.Second

// adaptives are the estimators without floors, so that they scale.
func adaptives() []string {
	return []string{
		"quantile:min=0s,max=1h,initial=100ms", "quantile:q=90%,window=500ms,factor=3,samples=5,min=0s,max=1h,initial=100ms",
		"quantile:q=50%,window=100ms,factor=1,samples=1,min=0s,max=1h,initial=100ms",
		"jacobson:g=0s,max=1h,initial=100ms", "jacobson:k=8,g=0s,max=1h,initial=100ms,backoff=false",
	}
}

// traced notes the timeouts that an estimator sets.
type traced struct {
	adaptive.Estimator
	due      []datasets.Instant
	timeouts []time.Duration
}

func (e *traced) Timeout(at datasets.Instant) time.Duration {
	d := e.Estimator.Timeout(at)
	e.due, e.timeouts = append(e.due, at), append(e.timeouts, d)
	return d
}

func timeouts(t *testing.T, text string, listen time.Duration, samples []datasets.Sample) *traced {
	t.Helper()
	e := &traced{Estimator: estimator(t, text)}
	replay(e, listen, samples)
	return e
}

func TestShiftChangesNothing(t *testing.T) {
	samples := bursty(rand.New(rand.NewPCG(3, 4)), 5000)
	shifted := slices.Clone(samples)
	for i := range shifted {
		shifted[i].Due += datasets.Instant(1000 * time.Hour)
		shifted[i].Sent += datasets.Instant(1000 * time.Hour)
	}
	for _, text := range append(adaptives(), "fixed:after=50ms") {
		a, b := replay(estimator(t, text), listen, samples), replay(estimator(t, text), listen, shifted)
		if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
			t.Errorf("%s: %+v\nshifted: %+v", text, a, b)
		}
	}
}

// A trace in which everything takes twice as long, the window included, has timeouts
// twice as long, to the nanoseconds that rounding costs.
func TestTimeoutsScale(t *testing.T) {
	samples := bursty(rand.New(rand.NewPCG(5, 6)), 5000)
	double := slices.Clone(samples)
	for i := range double {
		s := &double[i]
		s.Due, s.Sent, s.Elapsed = 2*s.Due, 2*s.Sent, 2*s.Elapsed
	}
	for _, text := range adaptives() {
		scaled := map[string]string{
			"window=500ms": "window=1s", "window=100ms": "window=200ms", "initial=100ms": "initial=200ms", "quantile:min": "quantile:window=2m,min", "max=1h": "max=2h",
		}
		other := text
		for from, to := range scaled {
			other = replaceOnce(other, from, to)
		}
		a, b := timeouts(t, text, listen, samples), timeouts(t, other, 2*listen, double)
		for i := range a.timeouts {
			if d := b.timeouts[i] - 2*a.timeouts[i]; d.Abs() > 8 {
				t.Fatalf("%s: timeout %d is %v, and %v of the doubled trace", text, i, a.timeouts[i], b.timeouts[i])
			}
		}
	}
}

func TestNothingIsKnownBeforeItArrives(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	samples := bursty(r, 2000)
	for _, text := range adaptives() {
		whole := timeouts(t, text, listen, samples)
		for range 20 {
			// Nothing that becomes known after this instant may matter before it.
			cut := samples[r.IntN(len(samples))].Due
			other := slices.Clone(samples)
			for i := range other {
				latency, ok := other[i].Latency()
				if !ok {
					latency = listen
				}
				if other[i].Due.Add(latency) > cut {
					other[i].Outcome = datasets.Replied
					other[i].Elapsed = cut.Sub(other[i].Due) + 1 + time.Duration(r.Int64N(int64(listen/2)))
					if other[i].Due > cut {
						other[i].Elapsed = time.Duration(r.Int64N(int64(listen)))
					}
				}
			}
			changed := timeouts(t, text, listen, other)
			for i, due := range whole.due {
				if due <= cut && whole.timeouts[i] != changed.timeouts[i] {
					t.Fatalf("%s: the timeout at %d changed from %v to %v by what became known after %d", text, due, whole.timeouts[i], changed.timeouts[i], cut)
				}
			}
		}
	}
}

func TestRowOrderDoesNotMatter(t *testing.T) {
	samples := bursty(rand.New(rand.NewPCG(9, 10)), 20000)
	recorded := slices.Clone(samples)
	known := func(s datasets.Sample) datasets.Instant {
		if latency, ok := s.Latency(); ok {
			return s.Due.Add(latency)
		}
		return s.Due.Add(listen)
	}
	slices.SortStableFunc(recorded, func(a, b datasets.Sample) int { return int(known(a) - known(b)) })
	if slices.IsSortedFunc(recorded, func(a, b datasets.Sample) int { return int(a.Due - b.Due) }) {
		t.Fatal("both orders are the same")
	}
	for _, text := range adaptives() {
		for _, listen := range []time.Duration{listen, 0} { // 0 is unknown
			a, b := replay(estimator(t, text), listen, samples), replay(estimator(t, text), listen, recorded)
			if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
				t.Errorf("%s, listen %v: by due time %+v\nas recorded %+v", text, listen, a, b)
			}
		}
	}
}

func TestFarOutOfOrderIsSaid(t *testing.T) {
	samples := []datasets.Sample{sample(0, 0, 1), sample(1, time.Hour, 1), sample(2, time.Minute, 1), sample(3, time.Hour+1, 1)}
	s := replay(estimator(t, "fixed"), listen, samples)
	if len(s.Warnings) != 0 {
		t.Errorf("an hour early is still in time, as nothing was played: %q", s.Warnings)
	}
	samples = append(samples[:2:2], sample(4, 2*time.Hour, 1), samples[2])
	s = replay(estimator(t, "fixed"), listen, samples)
	if s.Attempts != 4 || !slices.Equal(s.Warnings, []string{"replay: taken late because far out of order: 1 attempt; sort the trace by due time"}) {
		t.Errorf("attempts %d, warnings %q", s.Attempts, s.Warnings)
	}
}

func TestLongerTimeoutsTradeFalsePositivesForDetection(t *testing.T) {
	samples := bursty(rand.New(rand.NewPCG(11, 12)), 20000)
	var last adaptive.Score
	for i, after := 0, time.Millisecond; after < 2*listen; i, after = i+1, after+after/4 {
		s := replay(estimator(t, fmt.Sprint("fixed:after=", after)), listen, samples)
		if i > 0 {
			if s.FalsePositives > last.FalsePositives || s.Firings > last.Firings {
				t.Errorf("%v: false positives %d after %d, firings %d after %d", after, s.FalsePositives, last.FalsePositives, s.Firings, last.Firings)
			}
			for name, pair := range map[string][2]datasets.Optional[float64]{
				"p50": {last.DetectionP50, s.DetectionP50}, "p99": {last.DetectionP99, s.DetectionP99},
			} {
				if value(t, name, pair[1]) <= value(t, name, pair[0]) {
					t.Errorf("%v: detection %s %v after %v", after, name, pair[1], pair[0])
				}
			}
		}
		last = s
	}
}

func TestReplayAllocatesNothingPerSample(t *testing.T) {
	samples := bursty(rand.New(rand.NewPCG(13, 14)), 50000)
	for _, text := range append(adaptives(), "fixed") {
		r := adaptive.NewReplay(estimator(t, text), listen)
		for i := range samples[:40000] {
			r.Add(&samples[i])
		}
		next := 40000
		if allocs := testing.AllocsPerRun(9000, func() { r.Add(&samples[next]); next++ }); allocs > 0 {
			t.Errorf("%s: %v allocations a sample", text, allocs)
		}
	}
}

func BenchmarkReplay(b *testing.B) {
	samples := freeze(60)
	for _, text := range []string{"fixed:after=50ms", "jacobson", "quantile", "quantile:q=99%,window=500ms"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if s := replay(estimator(b, text), 5*time.Second, samples); s.Attempts != int64(len(samples)) {
					b.Fatal(s.Attempts)
				}
			}
			perSample(b, len(samples))
		})
	}
}

func perSample(b *testing.B, n int) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/sample")
}
