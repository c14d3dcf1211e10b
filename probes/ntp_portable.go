package probes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/beevik/ntp"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// ntpPortable has the library ask: on any system, with what stamps of arrival that
// gives, in basic mode.
type ntpPortable struct {
	path    *ntpPath
	version int
	user    bool // the user's stamps are asked for, whatever the system has
}

func (n *ntpPortable) means() ntpMeans {
	m := ntpMeans{engine: "portable", remote: n.path.remote, local: n.path.local, t1: datasets.User, t4: n.path.stamps, clock: "CLOCK_REALTIME"}
	if n.user {
		m.t4 = datasets.User
	}
	return m
}

func (n *ntpPortable) trailer() []datasets.Field { return nil }

func (n *ntpPortable) close() error { return n.path.close() }

// ask makes one query and waits for the first datagram that comes back.
//
// GetSystemTime stays unset, and the socket a bare *net.UDPConn: with either the
// library would not ask the kernel for the time of arrival.
func (n *ntpPortable) ask(ctx context.Context, _ ntpQuery, until time.Time) *ntpAnswer {
	t := &ntpTap{}
	awake := func() bool { return true }
	t.query(n.path.remote.String(), ntp.QueryOptions{
		Timeout:    time.Until(until),
		Version:    n.version,
		Extensions: []ntp.Extension{t},
		Dialer: func(string, string) (net.Conn, error) {
			c, err := n.path.dial(ctx)
			if err != nil {
				return nil, err
			}
			t.conn = c
			awake = context.AfterFunc(ctx, func() { c.Close() })
			return c, nil
		},
	})
	awake()
	if t.sent.isZero() {
		t.sent = thisMoment()
	}
	return t.answer(n.user)
}

// ntpTap listens in on one query of the library, as an extension of it: right before
// a request is stamped and sent, and right after a reply was read.
type ntpTap struct {
	response *ntp.Response // nil unless the library took the reply
	err      error

	conn           *net.UDPConn
	request, reply []byte
	sent, received moment
	source         datasets.Source
}

// query has the library ask. It panics at some replies, such as one with a poll
// exponent of −128: that is the reply's fault, and ends this attempt alone.
func (t *ntpTap) query(remote string, options ntp.QueryOptions) {
	defer func() {
		if p := recover(); p != nil {
			if t.received.isZero() {
				panic(p)
			}
			t.response, t.err = nil, fmt.Errorf("it panics: %v", p)
		}
	}()
	t.response, t.err = ntp.QueryWithOptions(remote, options)
}

// ProcessQuery is called by the library with the request, before it reads T1.
func (t *ntpTap) ProcessQuery(request *bytes.Buffer) error {
	t.request = bytes.Clone(request.Bytes())
	t.sent = thisMoment()
	return nil
}

// ProcessResponse is called by the library with the reply, before it is parsed.
func (t *ntpTap) ProcessResponse(reply []byte) error {
	t.received = thisMoment()
	t.reply = bytes.Clone(reply)
	t.source = arrivalSource(t.conn)
	return nil
}

// answer is what came of it. The library's opinion of a reply it took (RTT,
// ClockOffset, RootDistance, Flags, Validate) is not asked, because it takes a
// negative delay for none and knows nothing of steps.
func (t *ntpTap) answer(user bool) *ntpAnswer {
	a := &ntpAnswer{
		outcome: t.outcome(), size: len(t.request), sent: t.sent, received: t.received,
		t1: t.sent.stamp(), t4: t.received.stamp(),
	}
	if t.err != nil && a.outcome == datasets.Replied {
		a.err = fmt.Errorf("refused by the library: %w", t.err)
	} else if t.err != nil {
		a.err = t.err
	}
	if a.outcome == datasets.Replied {
		a.request, _ = wire.DecodeNTP(t.request) // the library wrote it
		a.take(t.reply)
	}
	if t.response != nil && !user {
		// Its T1 is the nearest to the send, and its T4 may be the kernel's.
		stamps := t.response.Timestamps
		a.t1 = datasets.StampTime(stamps.ClientXmit, datasets.Local, datasets.User)
		a.t4 = datasets.StampTime(stamps.ClientRecv, datasets.Local, t.source)
	}
	return a
}

// outcome tells how the query ended. That of a reply is Replied until it has been
// judged.
func (t *ntpTap) outcome() datasets.Outcome {
	var op *net.OpError
	switch {
	case !t.received.isZero():
		return datasets.Replied
	case errors.Is(t.err, os.ErrDeadlineExceeded):
		return datasets.TimedOut
	case errors.As(t.err, &op) && op.Op == "read":
		// What else comes out of reading a connected UDP socket is an ICMP error that
		// the other side or a router sent: port, host or network unreachable.
		return datasets.Refused
	}
	return datasets.LostLocal
}
