package probes

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tickmark/tickmark/datasets"
)

// postgresCaller connects, or asks on a connection that it keeps.
type postgresCaller struct {
	config *pgconn.Config
	remote netip.AddrPort
	query  string
	dials  atomic.Bool // false: pgconn wants to cancel what we gave up

	conn        *sentConn // nil if there is none
	session     *pgconn.PgConn
	connected   time.Duration // what the TCP connection took, in this call; −1 if it was there
	sent        int64         // bytes before this call
	retransmits int64
}

func newPostgresCaller(config *pgconn.Config, remote netip.AddrPort, query string) *postgresCaller {
	p := &postgresCaller{config: config.Copy(), remote: remote, query: query}
	p.config.DialFunc = p.dial
	return p
}

// errNotCancelled keeps a query that was given up from being cancelled, over a
// connection of its own: it ends with the one it came by.
var errNotCancelled = errors.New("not cancelled")

func (p *postgresCaller) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	if !p.dials.Load() {
		return nil, errNotCancelled
	}
	var dialer net.Dialer
	before := time.Now()
	conn, err := dialer.DialContext(ctx, network, p.remote.String())
	if err != nil {
		return nil, err
	}
	p.connected = time.Since(before)
	p.conn = &sentConn{TCPConn: conn.(*net.TCPConn)}
	return p.conn, nil
}

func (p *postgresCaller) call(ctx context.Context, c *called) {
	p.connected, p.sent, p.retransmits = -1, 0, 0
	if p.session != nil && (p.session.IsClosed() || !idle(p.conn.TCPConn)) {
		p.drop()
	}
	if p.conn != nil {
		p.sent, p.retransmits = p.conn.sent.Load(), max(0, tcpInfoOf(p.conn.TCPConn).retransmits)
	}
	var err error
	if p.session == nil {
		p.dials.Store(true)
		p.session, err = pgconn.ConnectConfig(ctx, p.config)
		p.dials.Store(false)
	}
	if err == nil && p.query != "" {
		err = p.ask(ctx)
	}
	c.answered = time.Now()
	p.note(c, err)
	if err != nil && (p.session == nil || p.session.IsClosed()) || p.query == "" {
		p.drop()
	}
}

// ask sends the query and reads everything that answers it. It is not given ctx, at the
// end of which pgconn would not wait for what it does about it.
func (p *postgresCaller) ask(ctx context.Context) error {
	until, _ := ctx.Deadline()
	conn := p.conn
	if err := conn.SetDeadline(until); err != nil {
		return err
	}
	done := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer done()
	results := p.session.Exec(context.Background(), p.query)
	for results.NextResult() {
		for rows := results.ResultReader(); rows.NextRow(); {
		}
	}
	return results.Close()
}

// note says what came of a call. An error that the server reports is an answer.
func (p *postgresCaller) note(c *called, err error) {
	if p.conn != nil {
		c.size = int(p.conn.sent.Load() - p.sent)
		c.cells = appendKnown(c.cells, p.connected)
		c.cells = tcpInfoOf(p.conn.TCPConn).appendCells(append(c.cells, '\t'), p.retransmits)
	}
	if err == nil {
		return
	}
	if no, ok := errors.AsType[*pgconn.PgError](err); ok {
		c.why = no.Code + " " + no.Message
		return
	}
	c.fail(err)
	if hungUp(err) {
		c.outcome, c.why = datasets.Refused, "the other side closed the connection"
	}
}

// drop closes the connection and waits for what pgconn does meanwhile.
func (p *postgresCaller) drop() {
	session, conn := p.session, p.conn
	p.session, p.conn = nil, nil
	if conn == nil {
		return
	}
	if session != nil {
		// A server that does not read must not hold up the next call.
		_ = conn.SetDeadline(time.Now().Add(10 * time.Millisecond))
		_ = session.Close(context.Background()) // says goodbye, if it can
	}
	conn.Close()
	if session != nil {
		<-session.CleanupDone()
	}
}

func (p *postgresCaller) close() error {
	p.drop()
	return nil
}
