package probes

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// ntpAsker makes exchanges by an engine and puts interleaved ones together.
type ntpAsker struct {
	engine ntpEngine
	order  interleaving
	last   *ntpAnswer
}

func (n *ntpAsker) attempt(ctx context.Context, until time.Time, row *datasets.Exchange) attempted {
	a := n.engine.ask(ctx, n.order.query(), until)
	n.last = a
	if errors.Is(a.err, syscall.EADDRINUSE) {
		return attempted{broken: fmt.Errorf("ntp: local address %s: another program took the port between two attempts: %w", n.engine.means().local, a.err)}
	}
	kiss := a.judge(row)
	return attempted{sent: a.sent, err: a.err, kiss: kiss}
}

func (n *ntpAsker) keep(row *datasets.Exchange, record func(*datasets.Exchange) error) error {
	return n.order.add(row, n.last, record)
}

func (n *ntpAsker) flush(record func(*datasets.Exchange) error) error { return n.order.flush(record) }

func (n *ntpAsker) trailer() []datasets.Field {
	return append(n.engine.trailer(), n.order.trailer()...)
}
