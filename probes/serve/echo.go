package serve

import (
	"time"

	"github.com/tickmark/tickmark/probes/echo"
	"github.com/tickmark/tickmark/probes/stamp"
)

// echoService returns requests with the server's stamps in them.
type echoService struct{ start time.Time }

func (e *echoService) accepts(b []byte) bool {
	p, err := echo.Parse(b)
	return err == nil && !p.Reply
}

func (e *echoService) answer(b []byte, n int, a *stamp.Arrival, t *treatment) int {
	p, _ := echo.Parse(b[:n]) // accepted before
	wall, _ := a.Wall.UnixNanos()
	p.Reply = true
	p.ServerReceived = int64(t.had)
	p.ServerReceivedWall = wall + int64(t.received())
	p.ServerQueued = int64(t.had - t.arrived - t.out)
	if t.forged {
		p.Session = ^p.Session
	}
	p.Append(b[:0])
	return n
}

func (e *echoService) seal(b []byte, t *treatment) {
	p, _ := echo.Parse(b) // made by answer
	now := time.Now()
	at := now.Sub(e.start)
	p.ServerSent = int64(at + t.transmit - t.back)
	p.ServerSentWall = now.UnixNano() + int64(t.sent(at))
	p.Append(b[:0])
}
