package wire

import (
	"net/netip"
	"time"
)

const (
	// pendingLimit is how many messages of a kind wait for their other half at once.
	pendingLimit = 1 << 14
	// mirrored is how far apart two copies of one packet are taken for what a switch
	// or a capture on two interfaces made of it. Farther apart nobody can say which
	// of them the answer is for.
	mirrored = time.Millisecond
)

// Stamp is a reading of a clock, in nanoseconds since 1970, or none.
type Stamp struct {
	UnixNanos int64
	Set       bool
}

// stampOf is Stamp of a function that returns a reading, and false if there is none.
func stampOf(unixNanos int64, ok bool) Stamp { return Stamp{unixNanos, ok} }

// station is where a message comes from or goes to; zero is everybody.
type station struct {
	ip  netip.Addr
	mac MAC
}

func from(p *Packet) station {
	if p.Transport == OverEthernet {
		return station{mac: p.SrcMAC}
	}
	return station{ip: p.Src.Addr()}
}

func to(p *Packet) station {
	switch {
	case p.Transport == OverEthernet && !p.DstMAC.IsMulticast():
		return station{mac: p.DstMAC}
	case p.Transport == OverUDP && !p.Dst.Addr().IsMulticast():
		return station{ip: p.Dst.Addr()}
	}
	return station{}
}

// pending is a table of what waits for its other half. It is bounded: when it is full
// the oldest goes, and so does what is older than the horizon, if there is one. What
// was completed stays as long, so that a copy of it is known for one.
type pending[K comparable, V any] struct {
	drop    func(*V)      // told what goes
	limit   int           // 0 is pendingLimit
	horizon time.Duration // 0 is none

	index        map[K]int
	ring         []waiting[K, V]
	first, after int // counted without end: the oldest, and the next one to come
}

type waiting[K comparable, V any] struct {
	key   K
	since int64 // Unix ns
	value V
	gone  bool
}

// find returns what waits under the key, or nil.
func (p *pending[K, V]) find(key K, now int64) *V {
	i, ok := p.index[key]
	if !ok {
		return nil
	}
	w := &p.ring[i]
	if p.old(w, now) {
		p.remove(w)
		return nil
	}
	return &w.value
}

// add puts a new value under a key that is not there.
func (p *pending[K, V]) add(key K, now int64) *V {
	if p.index == nil {
		p.index = make(map[K]int)
	}
	if p.limit == 0 {
		p.limit = pendingLimit
	}
	p.expire(now)
	if p.after-p.first == p.limit {
		p.forget()
	}
	i := p.after % p.limit
	if i == len(p.ring) {
		p.ring = append(p.ring, waiting[K, V]{})
	}
	p.ring[i] = waiting[K, V]{key: key, since: now}
	p.index[key] = i
	p.after++
	return &p.ring[i].value
}

// put puts a new value under a key, in place of what is there.
func (p *pending[K, V]) put(key K, now int64) *V {
	if i, ok := p.index[key]; ok {
		p.remove(&p.ring[i])
	}
	return p.add(key, now)
}

// expire lets go of what is older than the horizon.
func (p *pending[K, V]) expire(now int64) {
	for p.first < p.after {
		if w := &p.ring[p.first%p.limit]; !w.gone && !p.old(w, now) {
			return
		}
		p.forget()
	}
}

func (p *pending[K, V]) old(w *waiting[K, V], now int64) bool {
	return p.horizon > 0 && distance(now, w.since) > uint64(p.horizon)
}

// forget lets go of the oldest.
func (p *pending[K, V]) forget() {
	p.remove(&p.ring[p.first%p.limit])
	p.first++
}

func (p *pending[K, V]) remove(w *waiting[K, V]) {
	if w.gone {
		return
	}
	w.gone = true
	delete(p.index, w.key)
	p.drop(&w.value)
}

// clear lets go of everything.
func (p *pending[K, V]) clear() {
	for p.first < p.after {
		p.forget()
	}
}

// distance returns |a − b|, which may not fit into 63 bits.
func distance(a, b int64) uint64 {
	if a < b {
		a, b = b, a
	}
	return uint64(a) - uint64(b)
}

// apart tells whether two copies of a packet are more than a mirror makes of one.
func apart(a, b Stamp) bool {
	return !a.Set || !b.Set || distance(a.UnixNanos, b.UnixNanos) > uint64(mirrored)
}
