package adaptive

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

func TestBucketsCoverEveryDuration(t *testing.T) {
	last := time.Duration(-1)
	for b := range buckets {
		top := bucketTop(b)
		if top <= last {
			t.Fatalf("bucket %d ends at %d, the one before at %d", b, top, last)
		}
		if bucketOf(top) != b || bucketOf(last+1) != b {
			t.Fatalf("bucket %d: its ends %d and %d lie in %d and %d", b, last+1, top, bucketOf(last+1), bucketOf(top))
		}
		if width := float64(top - last); top > 255 && width > float64(last+1)/128 {
			t.Fatalf("bucket %d is %v wide at %v", b, width, last+1)
		}
		last = top
	}
	if last != math.MaxInt64 || bucketOf(-5) != 0 {
		t.Errorf("the last bucket ends at %d, −5 is in bucket %d", last, bucketOf(-5))
	}
}

// sortedWindow is the slow twin: it sorts what is in the window.
type sortedWindow struct {
	length time.Duration
	recent []seen
}

func (w *sortedWindow) quantile(now datasets.Instant, q float64) int {
	w.recent = slices.DeleteFunc(w.recent, func(s seen) bool { return now.Sub(s.at) > w.length })
	var in []int32
	for _, s := range w.recent {
		in = append(in, s.bucket)
	}
	slices.Sort(in)
	return int(in[max(int(math.Ceil(q*float64(len(in))-1e-9)), 1)-1])
}

func TestWindowAgainstSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, q := range []float64{.001, .1, .5, .9, .99, .999} {
		fast := newWindow(200)
		slow := sortedWindow{length: 200}
		now := datasets.Instant(0)
		for range 4000 {
			now += datasets.Instant(r.IntN(4))
			bucket := bucketOf(time.Duration(1e7 * math.Exp(2*r.NormFloat64())))
			if r.IntN(50) == 0 {
				bucket = silent
			}
			fast.add(now, bucket)
			slow.recent = append(slow.recent, seen{now, int32(bucket)})
			if r.IntN(3) > 0 {
				continue // the cursor must survive several changes at once
			}
			fast.forget(now)
			want := slow.quantile(now, q)
			got, ok := fast.quantile(q)
			if ok != (want != silent) || ok && bucketOf(got) != want {
				t.Fatalf("q %v at %d: %v, %v; want bucket %d", q, now, got, ok, want)
			}
		}
	}
}

func TestQueueAgainstSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, jitter := range []int{1, 5, 40, 10000} {
		q := newQueue()
		var want, got []flight
		for i := range 5000 {
			f := flight{event{at: datasets.Instant(i + r.IntN(jitter))}, r.Int64()}
			q.push(f)
			want = append(want, f)
			// Nothing that comes later can precede what is taken, so sorting is the answer.
			for q.head < datasets.Instant(i) {
				got = append(got, q.pop())
			}
		}
		for q.head < never {
			got = append(got, q.pop())
		}
		slices.SortFunc(want, func(a, b flight) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
		if !slices.Equal(got, want) {
			t.Errorf("jitter %d: %d of %d came out, or not in order", jitter, len(got), len(want))
		}
	}
}

func BenchmarkWindow(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	bucket := make([]int, 1<<16)
	for i := range bucket {
		bucket[i] = bucketOf(time.Duration(1e7 * math.Exp(.5*r.NormFloat64())))
	}
	for _, size := range []time.Duration{1000, 120_000} {
		b.Run(fmt.Sprint(int64(size)), func(b *testing.B) {
			w := newWindow(size)
			i, sum := 0, time.Duration(0)
			for b.Loop() {
				at := datasets.Instant(i)
				w.add(at, bucket[i&(1<<16-1)])
				w.forget(at)
				d, _ := w.quantile(.99)
				sum += d
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/sample")
			if sum == 0 {
				b.Fatal("no quantile")
			}
		})
	}
}
