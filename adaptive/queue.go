package adaptive

// queue gives out flights by instant, then number. Flights come nearly in order: one
// that belongs within the last few is put in its place in a ring, which costs no
// more than looking, and a straggler goes to a heap, which bounds what any order
// costs.
type queue struct {
	ring ring[flight]
	heap []flight
}

const reach = 32 // how far from its end a flight may be put into the ring

func (q *queue) push(f flight) {
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
	r.push(f)
	i := r.n - 1
	for ; i > 0 && before(&f, r.item(i-1)); i-- {
		*r.item(i) = *r.item(i - 1)
	}
	*r.item(i) = f
}

// first returns the flight that pop would, or nil.
func (q *queue) first() *flight {
	if len(q.heap) > 0 && (q.ring.n == 0 || before(&q.heap[0], q.ring.front())) {
		return &q.heap[0]
	}
	if q.ring.n == 0 {
		return nil
	}
	return q.ring.front()
}

// pop removes the first flight; there must be one.
func (q *queue) pop() {
	if len(q.heap) > 0 && (q.ring.n == 0 || before(&q.heap[0], q.ring.front())) {
		q.popHeap()
		return
	}
	q.ring.pop()
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
