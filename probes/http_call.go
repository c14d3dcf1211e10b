package probes

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// protocolH2 is HTTP/2 over TLS, in ALPN (RFC 9113 §3.2).
const protocolH2 = "h2"

// httpCaller makes requests on a connection of its own, which it makes itself: http's
// pool would make one behind its back, or send a request twice.
type httpCaller struct {
	*endpoint
	request   *http.Request
	body      []byte
	status    string // expected
	keep      bool
	transport *http.Transport

	conn   *http.ClientConn // nil if there is none
	wire   *watched         // below it
	stages stages
}

func newHTTPCaller(p httpProbe, e *endpoint, request *http.Request, body []byte) *httpCaller {
	h := &httpCaller{endpoint: e, request: request, body: body, status: p.status, keep: p.keep}
	protocols := new(http.Protocols)
	switch {
	case e.tls != nil: // TLS agrees on one
		protocols.SetHTTP1(true)
		protocols.SetHTTP2(true)
	case p.version == version2: // by prior knowledge, RFC 9113 §3.3
		protocols.SetUnencryptedHTTP2(true)
	default:
		protocols.SetHTTP1(true)
	}
	h.transport = &http.Transport{
		DisableCompression: true,
		Protocols:          protocols,
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return h.connect(ctx) },
		DialTLSContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return h.connect(ctx) },
	}
	return h
}

// connect makes the connection that http speaks over.
func (h *httpCaller) connect(ctx context.Context) (net.Conn, error) {
	wire, err := h.dial(ctx, &h.stages)
	if err != nil {
		return nil, err
	}
	h.wire = wire
	if h.tls == nil {
		return wire, nil
	}
	conn, err := h.handshake(ctx, wire, h.tls, &h.stages)
	if err != nil {
		return nil, err
	}
	return conn, wantH2(conn, h.tls)
}

// wantH2 closes a connection that is not to HTTP/2's taste if nothing else would do.
func wantH2(conn *tls.Conn, config *tls.Config) error {
	got := conn.ConnectionState().NegotiatedProtocol
	if got == protocolH2 || len(config.NextProtos) != 1 || config.NextProtos[0] != protocolH2 {
		return nil
	}
	conn.Close()
	return fmt.Errorf("the server agrees on %q by TLS (ALPN): want %q, HTTP/2", got, protocolH2)
}

func (h *httpCaller) call(ctx context.Context, c *called) {
	h.stages.begin(stageBody+1, c.sent)
	c.size = len(h.body)
	if h.conn != nil && (h.wire.end() != nil || h.conn.Err() != nil || h.conn.Available() == 0) {
		h.drop()
	}
	reused := h.conn != nil
	var err error
	if !reused {
		h.wire = nil
		h.conn, err = h.transport.NewClientConn(ctx, h.request.URL.Scheme, h.target)
	}
	var a httpAnswer
	m := &marks{began: c.sent}
	if err == nil {
		a, err = h.ask(httptrace.WithClientTrace(ctx, m.trace()))
	}
	c.answered = time.Now()
	m.end(&h.stages)
	if err == nil {
		h.stages.end(stageBody, c.answered)
		c.status = datasets.Some(a.status)
		if c.why = statusWanted(h.status, a.status); c.why != "" {
			c.outcome = datasets.Invalid
		}
	} else {
		c.failOver(ctx, h.wire, m.answering(), err)
	}
	c.cells = a.appendCells(h.stages.appendCells(c.cells), reused, err == nil)
	if err != nil || a.last || !h.keep {
		h.drop()
	}
}

// httpAnswer is one that is whole.
type httpAnswer struct {
	status   int
	bytes    int64 // of the body
	protocol string
	last     bool // of its connection
}

// ask sends the request and reads the answer to its end.
func (h *httpCaller) ask(ctx context.Context) (a httpAnswer, err error) {
	request := h.request.WithContext(ctx)
	request.Body = bodyOf(h.body)
	response, err := h.conn.RoundTrip(request)
	if err != nil {
		return a, err
	}
	a.bytes, err = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	a.status, a.protocol, a.last = response.StatusCode, response.Proto, response.Close
	return a, err
}

func (a *httpAnswer) appendCells(dst []byte, reused, whole bool) []byte {
	dst = append(dst, '\t')
	if whole {
		dst = strconv.AppendInt(dst, a.bytes, 10)
	} else {
		dst = append(dst, '-')
	}
	dst = append(appendFlag(append(dst, '\t'), reused), '\t')
	if a.protocol == "" {
		return append(dst, '-')
	}
	return append(dst, a.protocol...)
}

func (h *httpCaller) drop() {
	if h.conn != nil {
		_ = h.conn.Close() // an answer that comes yet is for nobody
		h.conn = nil
	}
}

func (h *httpCaller) close() error {
	h.drop()
	return nil
}

// trace marks what http tells.
func (m *marks) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				m.mark(&m.wrote)
			}
		},
		GotFirstResponseByte: func() { m.mark(&m.first) },
	}
}
