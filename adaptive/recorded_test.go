package adaptive_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickmark/tickmark/adaptive"
	"github.com/tickmark/tickmark/datasets"
)

// BenchmarkReplayRecorded replays a million attempts with a slow tail, freezes and
// losses as a recorder writes them, by when their outcome was known.
func BenchmarkReplayRecorded(b *testing.B) {
	const pieces, length = 250, 4000
	piece := bursty(rand.New(rand.NewPCG(17, 18)), length)
	slices.SortStableFunc(piece, func(a, b datasets.Sample) int { return int(known(a) - known(b)) })
	last := slices.MaxFunc(piece, func(a, b datasets.Sample) int { return int(a.Due - b.Due) }).Due
	for _, text := range []string{"fixed:after=50ms", "jacobson", "quantile"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				r := adaptive.NewReplay(estimator(b, text), listen)
				for i := range pieces {
					by := datasets.Instant(i) * last
					for _, s := range piece {
						s.Seq += int64(i * length)
						s.Due, s.Sent = s.Due+by, s.Sent+by
						r.Add(&s)
					}
				}
				if s := r.Finish(); s.Attempts != pieces*length {
					b.Fatal(s.Attempts)
				}
			}
			perSample(b, pieces*length)
		})
	}
}

// known is when the outcome of a sample was known.
func known(s datasets.Sample) datasets.Instant {
	if latency, ok := s.Latency(); ok {
		return s.Due.Add(latency)
	}
	return s.Due.Add(listen)
}
