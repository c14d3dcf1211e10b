package probes

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"github.com/tickmark/tickmark/datasets"
)

// watched is a connection that knows how it ended: libraries above it tell that in words
// of their own, or not at all.
type watched struct {
	net.Conn
	ended atomic.Pointer[error]
}

// Read reads from the connection.
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.note(err)
	return n, err
}

// Write writes to the connection.
func (w *watched) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	w.note(err)
	return n, err
}

// note keeps the first error that is an end, which a deadline is not.
func (w *watched) note(err error) {
	var timeout net.Error
	if err != nil && !(errors.As(err, &timeout) && timeout.Timeout()) {
		w.ended.CompareAndSwap(nil, &err)
	}
}

// end is how the connection ended; nil if it is open, as far as known, or never was.
func (w *watched) end() error {
	if w == nil {
		return nil
	}
	if err := w.ended.Load(); err != nil {
		return *err
	}
	return nil
}

// failOver notes why a call over a connection, nil if there is none, has no answer. What
// a library says of it comes last, but first if an answer had begun.
func (c *called) failOver(ctx context.Context, conn *watched, begun bool, err error) {
	if end := conn.end(); end != nil && !begun && !errors.Is(end, net.ErrClosed) {
		err = end
	}
	if over := ctx.Err(); over != nil {
		err = over
	}
	c.fail(err)
	if hungUp(err) {
		c.outcome, c.why = datasets.Refused, "the other side closed the connection"
	}
}
