package adaptive

import (
	"math"

	"github.com/tickmark/tickmark/datasets"
)

// queue gives out flights by instant, then number. Flights come nearly in order: one
// that belongs within the last few is put in its place in a ring, which costs no
// more than looking, and a straggler goes to a heap, which bounds what any order
// costs.
type queue struct {
	head datasets.Instant // of the first flight; never without one
	ring ring[flight]
	heap []flight
}

const (
	reach = 32 // how far from its end a flight may be put into the ring
	never = datasets.Instant(math.MaxInt64)
)

func newQueue() queue { return queue{head: never} }

func (q *queue) push(f flight) {
	q.head = min(q.head, f.at)
	r := &q.ring
	if r.n > 0 && before(&f, r.back()) {
		q.insert(f)
		return
	}
	r.push(f)
}

// insert takes a flight that belongs before the ring's last one.
func (q *queue) insert(f flight) {
	r := &q.ring
	if r.n > reach && before(&f, r.item(r.n-1-reach)) {
		q.pushHeap(f)
		return
	}
	r.push(*r.back())
	i := r.n - 2
	for ; i > 0 && before(&f, r.item(i-1)); i-- {
		*r.item(i) = *r.item(i - 1)
	}
	*r.item(i) = f
}

// first returns the flight that pop would; there must be one.
func (q *queue) first() *flight {
	if len(q.heap) > 0 && (q.ring.n == 0 || before(&q.heap[0], q.ring.front())) {
		return &q.heap[0]
	}
	return q.ring.front()
}

// pop removes the first flight; there must be one.
func (q *queue) pop() flight {
	if len(q.heap) > 0 {
		return q.popEither()
	}
	r := &q.ring
	f := *r.front()
	r.pop()
	q.head = never
	if r.n > 0 {
		q.head = r.front().at
	}
	return f
}

// popEither pops from the heap or from the ring.
func (q *queue) popEither() flight {
	f := q.first()
	first := *f
	if f == &q.heap[0] {
		q.popHeap()
	} else {
		q.ring.pop()
	}
	q.head = never
	if len(q.heap)+q.ring.n > 0 {
		q.head = q.first().at
	}
	return first
}

// precedes reports whether the first flight of q comes before that of another queue.
func (q *queue) precedes(other *queue) bool {
	return q.head < other.head || q.head == other.head && q.head < never && before(q.first(), other.first())
}

func (q *queue) pushHeap(f flight) {
	q.heap = append(q.heap, f)
	h, i := q.heap, len(q.heap)-1
	for i > 0 {
		parent := (i - 1) / 2
		if !before(&f, &h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = f
}

func (q *queue) popHeap() {
	last := q.heap[len(q.heap)-1]
	q.heap = q.heap[:len(q.heap)-1]
	h, i := q.heap, 0
	for child := 1; child < len(h); child = 2*i + 1 {
		if right := child + 1; right < len(h) && before(&h[right], &h[child]) {
			child = right
		}
		if !before(&h[child], &last) {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = last
	}
}
