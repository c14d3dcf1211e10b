package probes

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// tcpLine is a connection that is kept from call to call, and made anew at the next call
// when it was lost.
type tcpLine struct {
	dialer net.Dialer // its connections do not delay small segments: Go sets TCP_NODELAY
	remote netip.AddrPort
	conn   *net.TCPConn // nil if there is none

	connected   time.Duration // what connecting took, in this call; −1 if it was there
	retransmits int64         // of the connection, when the call began
}

// lineColumns are those of calls on such a connection: how long connecting took, in a
// call that had to, and what the kernel knows.
func lineColumns() []string { return append([]string{"connect_ns"}, tcpColumns()...) }

// begin returns the connection for a call, whose deadline it has. A new one is greeted.
func (l *tcpLine) begin(ctx context.Context, greet func(*net.TCPConn) error) (done func() bool, err error) {
	l.connected = -1
	if l.conn != nil && !idle(l.conn) {
		l.drop()
	}
	fresh := l.conn == nil
	if fresh {
		before := time.Now()
		conn, err := l.dialer.DialContext(ctx, "tcp", l.remote.String())
		if err != nil {
			return nil, err
		}
		l.conn, l.connected, l.retransmits = conn.(*net.TCPConn), time.Since(before), 0
	} else {
		l.retransmits = tcpInfoOf(l.conn).retransmits
	}
	until, _ := ctx.Deadline()
	conn := l.conn
	if err := conn.SetDeadline(until); err != nil {
		l.drop()
		return nil, err
	}
	// Whoever stops the recording does not wait for the answer.
	done = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	if fresh && greet != nil {
		if err := greet(conn); err != nil {
			done()
			l.drop()
			return nil, err
		}
	}
	return done, nil
}

// end notes what came of a call, now that its answer is whole or will never be. After an
// error nobody knows what the next bytes would belong to.
func (l *tcpLine) end(c *called, err error) {
	if l.conn != nil {
		c.cells = appendKnown(c.cells, l.connected)
		c.cells = tcpInfoOf(l.conn).appendCells(append(c.cells, '\t'), max(l.retransmits, 0))
	}
	if err != nil {
		l.drop()
		c.fail(err)
		if hungUp(err) {
			c.outcome, c.why = datasets.Refused, "the other side closed the connection"
		}
	}
}

// hungUp reports whether an answer did not come because the other side closed.
func hungUp(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

func (l *tcpLine) drop() {
	if l.conn != nil {
		l.conn.Close() // an answer that comes yet is for nobody
		l.conn = nil
	}
}

func (l *tcpLine) close() error {
	if l.conn == nil {
		return nil
	}
	return l.conn.Close()
}
