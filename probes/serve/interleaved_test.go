package serve_test

import (
	"encoding/binary"
	"runtime"
	"testing"
	"time"
)

// The second reply tells when the first really left: after the transmit time that it
// gave itself, and before it was received. A request that names no reply of the server's,
// or does not ask for it, is answered in basic mode.
func TestInterleavedReplies(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("stamps of departures need Linux")
	}
	c := dial(t, start(t).NTPAddr())
	ask := func(origin, receive, transmit uint64) []byte {
		b := request(0)
		binary.BigEndian.PutUint64(b[24:], origin)
		binary.BigEndian.PutUint64(b[32:], receive)
		binary.BigEndian.PutUint64(b[40:], transmit)
		c.send(b)
		reply := make([]byte, 100)
		if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		a, err := c.Read(reply)
		if err != nil || a.N != 48 {
			t.Fatalf("%d bytes, %v", a.N, err)
		}
		return reply[:48]
	}
	field := func(b []byte, at int) uint64 { return binary.BigEndian.Uint64(b[at:]) }

	first := ask(0, 0, 11)
	if field(first, 24) != 11 {
		t.Fatalf("origin %x of a basic reply", field(first, 24))
	}
	second := ask(field(first, 32), 22, 23)
	if field(second, 24) != 22 || field(second, 40) <= field(first, 40) || field(second, 40) >= field(second, 32) {
		t.Errorf("origin %x, T3 %x; the first reply said %x, the second request came at %x",
			field(second, 24), field(second, 40), field(first, 40), field(second, 32))
	}
	for name, b := range map[string][]byte{
		"of another server's reply": ask(field(first, 32)+1, 32, 33),
		"not asked for":             ask(field(second, 32), 33, 33),
		"without an origin":         ask(0, 32, 33),
	} {
		if field(b, 24) != 33 {
			t.Errorf("%s: origin %x, want a basic reply", name, field(b, 24))
		}
	}
}
