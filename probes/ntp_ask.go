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
)

// ntpAnswer is what one query brought: what the library made of it, and what it
// does not tell. It listens in as an extension of the library: right before a
// request is stamped and sent, and right after a reply was read.
type ntpAnswer struct {
	response *ntp.Response // nil unless the library took the reply
	err      error

	conn     *net.UDPConn
	request  []byte
	reply    []byte // at most as long as the library's buffer
	sent     moment // just before T1
	received moment // just after the read; zero if nothing came
	source   datasets.Source
}

// moment is one reading of both clocks: the library's stamps have no monotonic part.
type moment struct {
	wall  time.Time     // for what the wall clock did meanwhile
	mono  time.Time     // for intervals
	width time.Duration // the two were read no farther apart
}

// thisMoment reads the clocks, again if the process was not run in between.
func thisMoment() moment {
	const tight, tries = 5 * time.Microsecond, 4
	var m moment
	before := time.Now()
	for range tries {
		now := time.Now()
		after := time.Now()
		m = moment{now.Round(0), now, after.Sub(before)}
		if m.width <= tight {
			break
		}
		before = after
	}
	return m
}

func (m moment) isZero() bool { return m.mono.IsZero() }

// askNTP makes one query and waits for the first datagram that comes back, for at
// most timeout.
//
// GetSystemTime stays unset, and the socket a bare *net.UDPConn: with either the
// library would not ask the kernel for the time of arrival.
func askNTP(ctx context.Context, path *ntpPath, version int, timeout time.Duration) *ntpAnswer {
	a := &ntpAnswer{}
	awake := func() bool { return true }
	a.query(path.remote.String(), ntp.QueryOptions{
		Timeout:    timeout,
		Version:    version,
		Extensions: []ntp.Extension{a},
		Dialer: func(string, string) (net.Conn, error) {
			c, err := path.dial(ctx)
			if err != nil {
				return nil, err
			}
			a.conn = c
			awake = context.AfterFunc(ctx, func() { c.Close() })
			return c, nil
		},
	})
	awake()
	if a.sent.isZero() {
		a.sent = thisMoment()
	}
	return a
}

// query has the library ask. It panics at some replies, such as one with a poll
// exponent of −128: that is the reply's fault, and ends this attempt alone.
func (a *ntpAnswer) query(remote string, options ntp.QueryOptions) {
	defer func() {
		if p := recover(); p != nil {
			if !a.replied() {
				panic(p)
			}
			a.response, a.err = nil, fmt.Errorf("it panics: %v", p)
		}
	}()
	a.response, a.err = ntp.QueryWithOptions(remote, options)
}

// ProcessQuery is called by the library with the request, before it reads T1.
func (a *ntpAnswer) ProcessQuery(request *bytes.Buffer) error {
	a.request = bytes.Clone(request.Bytes())
	a.sent = thisMoment()
	return nil
}

// ProcessResponse is called by the library with the reply, before it is parsed.
func (a *ntpAnswer) ProcessResponse(reply []byte) error {
	a.received = thisMoment()
	a.reply = bytes.Clone(reply)
	a.source = arrivalSource(a.conn)
	return nil
}

func (a *ntpAnswer) replied() bool { return !a.received.isZero() }

// outcome tells how the query ended. That of a reply is Replied until it has been
// judged.
func (a *ntpAnswer) outcome() datasets.Outcome {
	var op *net.OpError
	switch {
	case a.replied():
		return datasets.Replied
	case errors.Is(a.err, os.ErrDeadlineExceeded):
		return datasets.TimedOut
	case errors.As(a.err, &op) && op.Op == "read":
		// What else comes out of reading a connected UDP socket is an ICMP error that
		// the other side or a router sent: port, host or network unreachable.
		return datasets.Refused
	}
	return datasets.LostLocal
}
