package probes

import (
	"fmt"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// negotiation is the state of the sessions with a master. It has no clock and no
// socket of its own.
type negotiation struct {
	sessions []granting
	asked    time.Time // last
	requests uint16    // signaling messages sent
	denied   int64
	no       bool // a session is denied at any rate
}

// granting is a session that is wanted, and until when it is granted.
type granting struct {
	session
	until time.Time // zero: not
	due   time.Time // when to ask for it anew
}

const (
	// sessionLength is how long a session is asked for, and renewal how long before its
	// end it is asked for again.
	sessionLength = 60 * time.Second
	renewal       = 20 * time.Second
	// impatience is how often a request that was not granted is repeated.
	impatience = time.Second
	// slowest is the interval, 16 s, at which no for an answer is taken.
	slowest = 4
)

func newNegotiation(interval int8) negotiation {
	return negotiation{sessions: []granting{
		{session: session{wire.Announce, 0, sessionLength}},
		{session: session{wire.Sync, interval, sessionLength}},
		{session: session{wire.DelayResp, interval, sessionLength}},
	}}
}

// lack returns what is to be asked for now, and takes it for asked.
func (n *negotiation) lack(now time.Time) (lack []session) {
	if now.Sub(n.asked) < impatience {
		return nil
	}
	for _, s := range n.sessions {
		if !now.Before(s.due) {
			lack = append(lack, s.session)
		}
	}
	if lack != nil {
		n.asked = now
	}
	return lack
}

// again returns when lack is to be asked next, and false if not before a session ends.
func (n *negotiation) again() (time.Time, bool) {
	for _, s := range n.sessions {
		if s.due.Before(n.asked) {
			return n.asked.Add(impatience), true
		}
	}
	return time.Time{}, false
}

// told takes the answers of a master, and returns the sessions that it cancels. One that
// is denied is asked for half as often, at once.
func (n *negotiation) told(m *wire.PTP, now time.Time) (cancelled []wire.PTPType) {
	for _, told := range grants(m) {
		for i := range n.sessions {
			s := &n.sessions[i]
			switch {
			case s.kind != told.kind:
			case told.cancelled:
				cancelled = append(cancelled, s.kind)
				s.until, s.due = time.Time{}, time.Time{}
			case told.length > 0:
				s.until = now.Add(told.length)
				s.due = s.until.Add(-min(renewal, told.length/2))
			default:
				n.deny(s)
			}
		}
	}
	return cancelled
}

func (n *negotiation) deny(s *granting) {
	n.denied++
	if s.due = (time.Time{}); s.interval >= slowest {
		n.no = true
		return
	}
	s.interval++
	n.asked = time.Time{}
}

// doubt has all sessions asked for anew.
func (n *negotiation) doubt() {
	for i := range n.sessions {
		n.sessions[i].due = time.Time{}
	}
}

// open returns the sessions that the master holds open.
func (n *negotiation) open(now time.Time) (open []session) {
	for _, s := range n.sessions {
		if now.Before(s.until) {
			open = append(open, s.session)
		}
	}
	return open
}

func (n *negotiation) trailer() []datasets.Field {
	var wanted []string
	for _, s := range n.sessions {
		wanted = append(wanted, s.String())
	}
	return []datasets.Field{count("denied", n.denied), {Key: "sessions", Value: strings.Join(wanted, ", ")}}
}

func (s session) String() string { return fmt.Sprintf("%v every 2^%d s", s.kind, s.interval) }
