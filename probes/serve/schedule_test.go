package serve

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/tickmark/tickmark/probes/stamp"
)

func TestFreezeSchedule(t *testing.T) {
	f := freeze{after: 10, every: 100, length: 5, times: 3}
	for _, test := range []struct {
		now, start, end time.Duration
		ok              bool
	}{
		{0, 10, 15, true},
		{10, 10, 15, true},
		{14, 10, 15, true},
		{15, 110, 115, true},
		{114, 110, 115, true},
		{115, 210, 215, true},
		{215, 0, 0, false},
		{1 << 60, 0, 0, false},
	} {
		start, end, ok := f.next(test.now)
		if ok != test.ok || (ok && (start != test.start || end != test.end)) {
			t.Errorf("at %d: next %d to %d, %v; want %d to %d, %v", test.now, start, end, ok, test.start, test.end, test.ok)
		}
	}
}

// next is held to a walk over all windows.
func TestFreezeScheduleAgainstAWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		length := 1 + time.Duration(rng.IntN(20))
		f := freeze{time.Duration(rng.IntN(50)), length + 1 + time.Duration(rng.IntN(20)), length, rng.IntN(5)}
		now := time.Duration(rng.IntN(400))
		var want time.Duration = -1
		for k := 0; f.times == 0 || k < f.times; k++ {
			if start := f.after + time.Duration(k)*f.every; now < start+length {
				want = start
				break
			}
		}
		start, end, ok := f.next(now)
		if ok != (want >= 0) || (ok && (start != want || end != want+length)) {
			t.Fatalf("%+v at %d: next %d to %d, %v; want %d", f, now, start, end, ok, want)
		}
		thawed := freezes{f}.thawed(now)
		if frozen := ok && now >= start; (frozen && thawed != end) || (!frozen && thawed != now) {
			t.Fatalf("%+v at %d: thawed at %d", f, now, thawed)
		}
	}
}

// Schedules that leave no gap do not hang.
func TestThawedEnds(t *testing.T) {
	fs := freezes{{0, 10, 5, 0}, {5, 10, 5, 0}}
	if at := fs.thawed(0); at < 100 {
		t.Errorf("thawed at %d", at)
	}
}

func TestDelayLineIsBoundedAndInOrder(t *testing.T) {
	d := newDelayLine(nil)
	l := &listener{buf: make([]byte, maxDatagram), line: d}
	l.treatment = treatment{resized: true, length: maxPayload}
	base := time.Now()
	added := 0
	for d.add(base.Add(time.Duration(added*7919%97)), l, 48) {
		l.arrival = stamp.Arrival{From: netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(added))}
		added++
	}
	if most := lineBytes / (maxPayload + packetCost); added != most || d.waiting(l) != int64(most) {
		t.Fatalf("%d added, %d waiting, want %d", added, d.waiting(l), most)
	}
	if p, wait := d.take(base.Add(-time.Second)); p != nil || wait < time.Second {
		t.Errorf("before it is due: %v, wait %v", p, wait)
	}
	last := &pending{}
	for range added {
		p, _ := d.take(base.Add(time.Second))
		if p.due.Before(last.due) || (p.due.Equal(last.due) && p.order < last.order) {
			t.Fatalf("due %v (number %d) after %v (number %d)", p.due, p.order, last.due, last.order)
		}
		last = p
	}
	if d.bytes != 0 || d.waiting(l) != 0 {
		t.Errorf("%d bytes left of none", d.bytes)
	}
}

func TestTheTailOfADelayIsCutOff(t *testing.T) {
	draw, _ := distribution("lognormal", 10)
	d := delay{back: maxDelay, draw: draw}
	rng := rand.New(rand.NewPCG(1, 1))
	longest := time.Duration(0)
	for range 1000 {
		var made treatment
		d.afflict(&made, rng)
		if made.back < 0 || made.back > maxDelay || made.out != 0 {
			t.Fatalf("out %v, back %v, want 0 and at most %v", made.out, made.back, maxDelay)
		}
		longest = max(longest, made.back)
	}
	if longest != maxDelay { // half of all draws are above the median
		t.Errorf("the longest of 1000 is %v, want %v", longest, maxDelay)
	}
}

func TestOldFreezesAreForgotten(t *testing.T) {
	l := &listener{line: newDelayLine(nil)}
	for i := range 3*maxFreezes + 10 {
		l.tally.froze(Freeze{Length: time.Duration(i)})
	}
	c := l.counts()
	if c.Frozen != 3*maxFreezes+10 || len(c.Freezes) != maxFreezes || c.Freezes[maxFreezes-1].Length != 3*maxFreezes+9 {
		t.Errorf("%d counted, %d kept, the last is %v", c.Frozen, len(c.Freezes), c.Freezes[len(c.Freezes)-1])
	}
}
