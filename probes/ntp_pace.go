package probes

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

const (
	// publicInterval is how often a public server may be asked, the etiquette that
	// ntpsec's ntpdig states.
	publicInterval = 2 * time.Second
	ownInterval    = 100 * time.Millisecond
	// longestInterval is MAXPOLL of RFC 5905, 2^17 s.
	longestInterval = 1 << 17 * time.Second
)

// ntpSchedule is the schedule that plan asks for, within what a public server
// allows.
func ntpSchedule(server netip.Addr, plan Plan) (schedule, error) {
	usual := ownInterval
	if strict(server, plan) {
		usual = publicInterval
	}
	s, err := newSchedule(plan, usual)
	if err == nil && strict(server, plan) && s.interval < publicInterval*time.Duration(max(1, plan.Flow.Of)) {
		err = &spec.UsageError{Msg: fmt.Sprintf("interval %q: %v is a public address, to be asked once in %s at most (--i-own-this-server lifts that)",
			spec.Duration(s.interval), server, publicInterval)}
	}
	return s, err
}

// ntpGap is the shortest time between two sends, however late the first of them
// was. It is a little shorter than the interval for the sake of a late timer.
func ntpGap(server netip.Addr, plan Plan) time.Duration {
	if strict(server, plan) {
		return publicInterval * 19 / 20
	}
	return 0
}

// strict reports whether the server is somebody else's, as far as its address and
// the user tell.
func strict(server netip.Addr, plan Plan) bool {
	own := server.IsLoopback() || server.IsPrivate() || server.IsLinkLocalUnicast() || server.IsUnspecified()
	return !own && !plan.Owned
}

// ntpPace is a schedule whose attempts wait for each other: due times that pass
// while one is under way are skipped, never made up for in a burst.
type ntpPace struct {
	schedule
	gap     time.Duration
	due     datasets.Instant
	made    int64
	skipped int64
	over    bool
}

// next returns when the next attempt is due, and false if there is none.
func (p *ntpPace) next() (datasets.Instant, bool) {
	if p.over || p.count > 0 && p.made >= p.count || p.duration > 0 && time.Duration(p.due) >= p.duration {
		return 0, false
	}
	return p.due, true
}

// done says that the attempt left at sent and came to its end at now.
func (p *ntpPace) done(sent, now datasets.Instant) {
	p.made++
	p.advance(max(now, sent.Add(p.gap)))
}

// miss says that the attempt was not made.
func (p *ntpPace) miss(now datasets.Instant) {
	p.skipped++
	p.advance(now)
}

// advance moves on to the first due time that is not before earliest.
func (p *ntpPace) advance(earliest datasets.Instant) {
	steps := int64(1)
	if behind := earliest.Sub(p.due.Add(p.interval)); behind > 0 {
		passed := int64((behind-1)/p.interval) + 1
		steps += passed
		p.skipped += passed
	}
	if steps > (math.MaxInt64-int64(p.due))/int64(p.interval) {
		p.over = true
		return
	}
	p.due = p.due.Add(time.Duration(steps) * p.interval)
}

// slow doubles the interval, to what a public server allows at least.
func (p *ntpPace) slow() {
	p.interval = max(p.interval, min(max(2*p.interval, publicInterval), longestInterval))
}
