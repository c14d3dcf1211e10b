package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// largest is what a datagram can hold.
const largest = 64 << 10

// link is the way to a daemon that answers datagrams with datagrams. It is dialled
// when it is first needed, and again after an error.
type link struct {
	dial   func(ctx context.Context) (net.Conn, error)
	conn   net.Conn
	buf    []byte
	strays int // datagrams since the last asking that did not answer it
}

// ask sends one request and returns the first datagram that is mine, which is valid
// until the next.
func (l *link) ask(ctx context.Context, request []byte, mine func(reply []byte) bool) ([]byte, error) {
	var reply []byte
	err := l.exchange(ctx, func(conn net.Conn) error {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		var err error
		reply, err = l.next(conn, mine)
		return err
	})
	return reply, err
}

// exchange runs talk on a connection that fails it when ctx is done. An error of talk
// closes the connection: an answer that is still on its way must not be taken for that
// of a later question.
func (l *link) exchange(ctx context.Context, talk func(net.Conn) error) error {
	strays := l.strays
	if l.conn == nil {
		conn, err := l.dial(ctx)
		if err != nil {
			return plain(err)
		}
		l.conn = conn
	}
	deadline, _ := ctx.Deadline() // the zero time is none
	if err := l.conn.SetDeadline(deadline); err != nil {
		return errors.Join(err, l.close())
	}
	conn := l.conn
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err := talk(conn)
	stop()
	if err == nil {
		return nil
	}
	_ = l.close() // the error that counts is talk's
	if ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) {
		if l.strays > strays {
			return errStrays
		}
		return errSilent
	}
	return plain(err)
}

// next returns the next datagram that is mine.
func (l *link) next(conn net.Conn, mine func([]byte) bool) ([]byte, error) {
	if l.buf == nil {
		l.buf = make([]byte, largest)
	}
	for {
		n, err := conn.Read(l.buf)
		if err != nil {
			return nil, err
		}
		if mine(l.buf[:n]) {
			return l.buf[:n], nil
		}
		l.strays++
	}
}

// What an answer that did not come in time may be. The words are few, because a
// recording counts the claims it doubts by them.
var (
	errSilent = errors.New("no answer in time")
	errStrays = errors.New("no answer in time, only ones to other questions")
)

func (l *link) close() error {
	if l.conn == nil {
		return nil
	}
	conn := l.conn
	l.conn = nil
	return conn.Close()
}

// plain says what went wrong without the names of system calls.
func plain(err error) error {
	for _, c := range []struct {
		is   error
		text string
	}{
		{syscall.ECONNREFUSED, "nothing listens there"},
		{syscall.ENOENT, "there is no such socket"},
		{syscall.EACCES, "permission denied"},
		{syscall.EPERM, "permission denied"},
	} {
		if errors.Is(err, c.is) {
			return &plainError{c.text, err}
		}
	}
	return err
}

type plainError struct {
	text  string
	cause error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.cause }
