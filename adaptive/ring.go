package adaptive

// ring is a queue that grows to the longest it has been and then allocates no more.
type ring[T any] struct {
	items []T // a power of two of them, or none
	head  int
	n     int
}

func (r *ring[T]) push(v T) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.items[(r.head+r.n)&(len(r.items)-1)] = v
	r.n++
}

func (r *ring[T]) grow() {
	items := make([]T, max(2*len(r.items), 16))
	copied := copy(items, r.items[r.head:])
	copy(items[copied:], r.items[:r.head])
	r.items, r.head = items, 0
}

// front returns the oldest item; there must be one.
func (r *ring[T]) front() *T { return &r.items[r.head] }

// item returns the i-th item from the oldest.
func (r *ring[T]) item(i int) *T { return &r.items[(r.head+i)&(len(r.items)-1)] }

// back returns the newest item; there must be one.
func (r *ring[T]) back() *T { return r.item(r.n - 1) }

// pop removes the oldest item; there must be one.
func (r *ring[T]) pop() {
	r.head = (r.head + 1) & (len(r.items) - 1)
	r.n--
}

// drop removes the newest item; there must be one.
func (r *ring[T]) drop() { r.n-- }
