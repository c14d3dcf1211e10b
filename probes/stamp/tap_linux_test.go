package stamp

import (
	"bytes"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"testing"
	"time"
)

// On loopback each frame passes twice, leaving and arriving; the tap lets PTP's ports
// through and nothing else, and the kernel's stamps lie between our own readings.
func TestTapSeesPTPAlone(t *testing.T) {
	tap, err := OpenTap("lo")
	if errors.Is(err, fs.ErrPermission) {
		t.Skip("packet sockets need root")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer tap.Close()
	for _, host := range []string{"127.0.0.1:0", "[::1]:0"} {
		c, err := Listen(host)
		if err != nil {
			t.Logf("%s: %v", host, err) // no IPv6 here
			continue
		}
		before := time.Now()
		for _, port := range []uint16{123, 319, 321, 320} {
			_, _ = c.WriteTo([]byte{'t', 'm', byte(port >> 8), byte(port)}, netip.AddrPortFrom(c.LocalAddr().Addr(), port))
		}
		if err := tap.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		seen := map[byte]int{}
		buf := make([]byte, 256)
		for seen[319&255] < 2 || seen[320&255] < 2 {
			f, err := tap.Read(buf)
			if err != nil {
				t.Fatalf("%s: %v after %v", host, err, seen)
			}
			at, stamped := f.At.UnixNanos()
			i := bytes.Index(buf[:f.N], []byte{'t', 'm', 1})
			if i < 0 || i+4 > f.N {
				continue // somebody else's PTP
			}
			seen[buf[i+3]]++
			if !stamped || at < before.UnixNano() || at > time.Now().UnixNano() {
				t.Errorf("%s: stamp %d %v, sent after %d", host, at, stamped, before.UnixNano())
			}
		}
		if len(seen) != 2 {
			t.Errorf("%s: seen %v", host, seen)
		}
		c.Close()
	}
	if err := tap.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := tap.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	if _, err := OpenTap("no-such"); err == nil {
		t.Error("an interface that is not there was tapped")
	}
}
