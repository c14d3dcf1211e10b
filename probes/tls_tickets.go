package probes

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"
)

// tickets is where one connection puts the tickets of its session and takes an earlier
// one from. In TLS 1.3 they come after the handshake (RFC 8446 §4.6.1), so that whoever
// hangs up at once has none.
type tickets struct {
	tls.ClientSessionCache
	conn net.Conn
	got  atomic.Bool
}

func newTickets(of tls.ClientSessionCache, conn net.Conn) *tickets {
	return &tickets{ClientSessionCache: of, conn: conn}
}

// Put keeps a session, and has await end.
func (t *tickets) Put(key string, session *tls.ClientSessionState) {
	t.ClientSessionCache.Put(key, session)
	if session != nil {
		t.got.Store(true)
		_ = t.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// await reads until a ticket has come, or as long again as the handshake took, which is
// at least a round trip, and a little: nothing says that there will be one. What else the
// server says is for nobody.
func (t *tickets) await(conn *tls.Conn, took time.Duration) {
	if t.got.Load() || conn.SetReadDeadline(time.Now().Add(took+100*time.Millisecond)) != nil {
		return
	}
	var b [1]byte
	_, _ = conn.Read(b[:])
}
