package serve

import (
	"net/netip"
	"testing"
	"time"
)

func TestSessions(t *testing.T) {
	var s sessions
	now := time.Now()
	at := func(port int) session {
		return session{netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), uint16(port)), 7}
	}
	check := func(of session, want uint32) {
		t.Helper()
		if got := s.next(of, now); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	check(at(1), 0)
	check(at(1), 1)
	check(at(2), 0)
	now = now.Add(14 * time.Minute)
	check(at(1), 2)
	now = now.Add(14 * time.Minute)
	check(at(1), 3)
	now = now.Add(16 * time.Minute)
	check(at(3), 0)
	check(at(1), 4)
	now = now.Add(16 * time.Minute)
	check(at(3), 1)
	now = now.Add(16 * time.Minute)
	check(at(1), 0) // not heard of for 32 minutes
	for port := range 60_000 {
		s.next(at(port), now)
		if len(s.young) > mostYoung || len(s.old) > mostYoung {
			t.Fatal("it grows without end")
		}
	}
	check(at(59_999), 1)
}
