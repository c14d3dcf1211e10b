package serve

import (
	"container/heap"
	"net/netip"
	"sync"
	"time"
)

// The replies that may wait at once, in bytes with what each costs beside its own.
const (
	lineBytes  = 8 << 20
	packetCost = 256
)

// delayLine holds replies until they are due, without holding up who made them.
type delayLine struct {
	mu    sync.Mutex
	queue pendingHeap
	added int64
	bytes int
	wake  chan struct{} // has room for one: the earliest reply has changed
	done  <-chan struct{}
}

// pending is a reply that waits.
type pending struct {
	due       time.Time
	order     int64 // of adding, between replies due together
	listener  *listener
	to        netip.AddrPort
	treatment treatment
	buf       []byte
	n         int // of buf; the rest is room for padding
}

func newDelayLine(done <-chan struct{}) *delayLine {
	return &delayLine{wake: make(chan struct{}, 1), done: done}
}

// add takes the reply that l has made, n bytes long, and has l send it when due. It
// is false when too many are waiting.
func (d *delayLine) add(due time.Time, l *listener, n int) bool {
	room := max(n, l.treatment.size(n))
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bytes+room+packetCost > lineBytes {
		return false
	}
	p := &pending{due: due, order: d.added, listener: l, to: l.arrival.From, treatment: l.treatment, buf: make([]byte, room), n: n}
	copy(p.buf, l.buf[:n])
	d.added++
	d.bytes += room + packetCost
	heap.Push(&d.queue, p)
	if d.queue[0] == p {
		select {
		case d.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// run sends what is due until the server is done.
func (d *delayLine) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		p, wait := d.take(time.Now())
		if p != nil {
			p.listener.send(p.buf, p.n, p.to, &p.treatment)
			continue
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-d.wake:
		case <-d.done:
			return
		}
	}
}

// take returns a reply that is due, or how long there is none.
func (d *delayLine) take(now time.Time) (*pending, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) == 0 {
		return nil, time.Hour
	}
	if wait := d.queue[0].due.Sub(now); wait > 0 {
		return nil, wait
	}
	p := heap.Pop(&d.queue).(*pending)
	d.bytes -= len(p.buf) + packetCost
	return p, 0
}

// waiting returns how many replies of l have not been sent yet.
func (d *delayLine) waiting(l *listener) (n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.queue {
		if p.listener == l {
			n++
		}
	}
	return n
}

// pendingHeap has the reply that is due first in front.
type pendingHeap []*pending

func (h pendingHeap) Len() int { return len(h) }

func (h pendingHeap) Less(i, j int) bool {
	if c := h[i].due.Compare(h[j].due); c != 0 {
		return c < 0
	}
	return h[i].order < h[j].order
}

func (h pendingHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *pendingHeap) Push(x any)   { *h = append(*h, x.(*pending)) }

func (h *pendingHeap) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return p
}
