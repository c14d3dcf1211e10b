package probes

import (
	"context"
	"errors"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// grpcCaller makes calls on a connection of its own, which it makes itself: the library
// would wait longer and longer between its attempts, and refuse calls meanwhile.
type grpcCaller struct {
	*endpoint
	probe    *grpcProbe
	request  []byte
	metadata []string // names and values in turn

	link   *grpcLink // nil if there is none
	wire   *watched  // below it
	stages stages
}

// grpcAnswer is one that is whole.
type grpcAnswer struct {
	code  int
	text  string // of an error
	reply []byte
}

// errUnsent is the fate of a call on a connection whose server has said that it wants no
// more of them.
var errUnsent = errors.New("grpc: the connection takes no more calls")

func (g *grpcCaller) call(ctx context.Context, c *called) {
	g.stages.begin(stageBody+1, c.sent)
	c.size = len(g.request)
	if g.link != nil && g.wire.end() != nil {
		g.drop()
	}
	reused := g.link != nil
	m := &marks{began: c.sent}
	a, err := g.ask(ctx, m)
	if reused && errors.Is(err, errUnsent) { // every client makes a new one of it
		g.drop()
		reused, m = false, &marks{began: c.sent}
		a, err = g.ask(ctx, m)
	}
	c.answered = time.Now()
	m.end(&g.stages)
	var serving string
	if err == nil {
		g.stages.end(stageBody, c.answered)
		serving = g.judge(c, a)
	} else {
		c.failOver(ctx, g.wire, m.answering(), err)
		g.drop()
	}
	c.cells = append(g.stages.appendCells(c.cells), '\t')
	c.cells = append(appendFlag(c.cells, reused), '\t')
	c.cells = append(c.cells, whyCell(serving)...)
}

// ask connects if there is no connection, and asks.
func (g *grpcCaller) ask(ctx context.Context, m *marks) (a grpcAnswer, err error) {
	if g.link == nil {
		if g.link, err = g.connect(ctx); err != nil {
			return a, err
		}
	}
	method := g.probe.method
	if method == "" {
		method = healthCheck
	}
	return g.link.invoke(ctx, method, g.metadata, g.request, m)
}

func (g *grpcCaller) connect(ctx context.Context) (*grpcLink, error) {
	wire, err := g.dial(ctx, &g.stages)
	g.wire = wire
	if err != nil {
		return nil, err
	}
	authority := g.probe.authority(g.endpoint)
	if g.tls == nil {
		return newGRPCLink(wire, nil, authority)
	}
	conn, err := g.handshake(ctx, wire, g.tls, &g.stages)
	if err != nil {
		return nil, err
	}
	if err := wantH2(conn, g.tls); err != nil {
		return nil, err
	}
	state := conn.ConnectionState()
	return newGRPCLink(conn, &state, authority)
}

// judge notes the status of an answer, and returns what a health check says.
func (g *grpcCaller) judge(c *called, a grpcAnswer) (serving string) {
	c.status = datasets.Some(a.code)
	switch {
	case a.code != 0:
		c.why = a.text
	case g.probe.method == "":
		var err error
		if serving, err = servingOf(a.reply); err != nil {
			c.outcome, c.why = datasets.Invalid, err.Error()
		}
	}
	return serving
}

func (g *grpcCaller) drop() {
	if g.link != nil {
		g.link.close() // an answer that comes yet is for nobody
		g.link = nil
	}
}

func (g *grpcCaller) close() error {
	g.drop()
	return nil
}
