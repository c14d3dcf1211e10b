package serve

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// tcpEcho sends back every byte, connection by connection. Faults are not injected: a
// stream hides what happens to packets.
type tcpEcho struct {
	listener *net.TCPListener
	accepted atomic.Int64
	echoed   atomic.Int64

	mu      sync.Mutex
	open    map[*net.TCPConn]struct{} // nil once closed
	failure error
}

func listenTCP(addr string) (*tcpEcho, error) {
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, err
	}
	listener, err := net.ListenTCP("tcp", at)
	if err != nil {
		return nil, err
	}
	return &tcpEcho{listener: listener, open: map[*net.TCPConn]struct{}{}}, nil
}

// run accepts until the echo is closed, and returns when every connection has ended.
func (e *tcpEcho) run() {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		conn, err := e.listener.AcceptTCP()
		switch {
		case err == nil && e.add(conn):
			e.accepted.Add(1)
			serving.Go(func() { e.serve(conn) })
		case err == nil:
			conn.Close()
		case e.gone(err):
			return
		}
	}
}

func (e *tcpEcho) add(conn *net.TCPConn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		return false
	}
	e.open[conn] = struct{}{}
	return true
}

// gone reports whether there is nothing to accept from any more. That too many
// connections are open is no reason.
func (e *tcpEcho) gone(err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		return true
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		time.Sleep(10 * time.Millisecond) // until a connection has ended
		return false
	}
	e.failure = err
	return true
}

func (e *tcpEcho) serve(conn *net.TCPConn) {
	n, _ := io.Copy(plain{conn}, plain{conn}) // the end of the one it serves, however it comes
	e.echoed.Add(n)
	conn.Close()
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, conn)
}

// plain keeps io.Copy from splicing, which takes a pipe for each connection.
type plain struct{ io.ReadWriter }

func (e *tcpEcho) addr() netip.AddrPort {
	if e == nil {
		return netip.AddrPort{}
	}
	at := e.listener.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// counts returns what has been done so far.
func (e *tcpEcho) counts() TCPCounts {
	if e == nil {
		return TCPCounts{}
	}
	return TCPCounts{Connections: e.accepted.Load(), Bytes: e.echoed.Load()}
}

func (e *tcpEcho) close() {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for conn := range e.open {
		conn.Close()
	}
	e.open = nil
	e.listener.Close()
}
