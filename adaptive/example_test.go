package adaptive_test

import (
	"fmt"
	"time"

	"github.com/tickmark/tickmark/adaptive"
)

// One freeze of 400 ms under 2,000 calls a second that take 10 ms each: 720 calls
// arrive too early in it and 19 were in service, an answer at the deadline being in
// time. From 410 ms on a timeout sees nothing of it. An adaptive one learns of a freeze
// when it is over: its floor of 200 ms is what 420 and 19 calls exceed.
func ExampleReplay() {
	for _, text := range []string{"fixed:after=50ms", "fixed:after=410ms", "jacobson:min=200ms"} {
		e, _, err := adaptive.Estimators().Parse("estimator", text)
		if err != nil {
			panic(err)
		}
		r := adaptive.NewReplay(e, 5*time.Second)
		for _, s := range freeze(1) {
			r.Add(&s)
		}
		score := r.Finish()
		p99, _ := score.DetectionP99.Value()
		fmt.Printf("%s: %d of %d calls cut off, a crash noticed within %.0f ms\n", text, score.FalsePositives, score.Attempts, p99*1e3)
	}
	// Output:
	// fixed:after=50ms: 739 of 2000 calls cut off, a crash noticed within 50 ms
	// fixed:after=410ms: 0 of 2000 calls cut off, a crash noticed within 410 ms
	// jacobson:min=200ms: 439 of 2000 calls cut off, a crash noticed within 205 ms
}
