package adaptive

import (
	"math"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// window answers for a quantile of the latencies observed lately, to the bucket. A
// cursor stays at the bucket of the last answer together with how many stand
// below it, so that the next answer is a step or two away.
type window struct {
	length time.Duration
	recent ring[seen]
	count  []uint32 // by bucket; the last one holds what was not answered
	cursor int
	below  int // observations in buckets before the cursor
}

type seen struct {
	at     datasets.Instant
	bucket int32
}

// silent is the bucket of attempts without an answer, above that of any latency.
const silent = buckets

func newWindow(length time.Duration) window {
	return window{length: length, count: make([]uint32, buckets+1)}
}

func (w *window) add(at datasets.Instant, bucket int) {
	w.recent.push(seen{at, int32(bucket)})
	w.count[bucket]++
	if bucket < w.cursor {
		w.below++
	}
}

// forget drops what was observed more than the window's length before now.
func (w *window) forget(now datasets.Instant) {
	for w.recent.n > 0 && now.Sub(w.recent.front().at) > w.length {
		bucket := int(w.recent.front().bucket)
		w.recent.pop()
		w.count[bucket]--
		if bucket < w.cursor {
			w.below--
		}
	}
}

// quantile returns the top of the q-quantile's bucket, and false if that one was not
// answered. The window must not be empty.
func (w *window) quantile(q float64) (time.Duration, bool) {
	rank := min(max(int(math.Ceil(q*float64(w.recent.n)-1e-9)), 1), w.recent.n)
	for w.below >= rank {
		w.cursor--
		w.below -= int(w.count[w.cursor])
	}
	for w.below+int(w.count[w.cursor]) < rank {
		w.below += int(w.count[w.cursor])
		w.cursor++
	}
	if w.cursor == silent {
		return 0, false
	}
	return bucketTop(w.cursor), true
}
