package stamp

import (
	"net/netip"
	"testing"
)

// What is sent with a TTL arrives with it, for no router lies in between; on a socket of
// both families too.
func TestTTL(t *testing.T) {
	for _, c := range []struct{ listen, host string }{{"127.0.0.1:0", "127.0.0.1"}, {"[::1]:0", "::1"}, {":0", "127.0.0.1"}, {":0", "::1"}} {
		server, err := Listen(c.listen)
		if err != nil {
			t.Skipf("%s: %v", c.listen, err)
		}
		defer server.Close()
		client, err := Dial(netip.AddrPort{}, netip.AddrPortFrom(netip.MustParseAddr(c.host), server.LocalAddr().Port()))
		if err != nil {
			t.Skipf("%s: %v", c.host, err)
		}
		defer client.Close()
		buf := make([]byte, 10)
		for _, ttl := range []uint8{255, 7} {
			if err := client.SetTTL(ttl); err != nil {
				t.Fatal(err)
			}
			if err := server.TellTTL(); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Write([]byte("ttl")); err != nil {
				t.Fatal(err)
			}
			if a, err := server.Read(buf); err != nil || a.TTL != ttl {
				t.Errorf("%s to %s with %d: came with %d, %v", c.host, c.listen, ttl, a.TTL, err)
			}
		}
	}
}
