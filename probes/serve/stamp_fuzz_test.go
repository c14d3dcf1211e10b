package serve

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/stamp"
)

// FuzzSTAMPReflector holds the reflector to this: a reply is as long as its request, brings
// back what the sender put there and its TLVs but for their flags, and is no request again.
func FuzzSTAMPReflector(f *testing.F) {
	b := make([]byte, 60)
	wire.NewSTAMP(nil).PutTest(b, &wire.STAMPTest{Seq: 1, Time: 2, Error: 3, SSID: 4})
	f.Add(b[:44])
	f.Add(b[:14])
	wire.NewSTAMP(nil).PutPadding(b)
	f.Add(b)
	f.Fuzz(func(t *testing.T, request []byte) {
		s, err := newSTAMPService(STAMP{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if !s.accepts(request) {
			if len(request) >= 44 && !wire.NewSTAMP(nil).AlreadyReflected(request) {
				t.Fatal("a request is not taken")
			}
			return
		}
		now := time.Now()
		a := stamp.Arrival{
			N: len(request), From: netip.MustParseAddrPort("192.0.2.1:1000"), Mono: now, TTL: 9,
			Wall: datasets.NewStamp(now.UnixNano(), datasets.Local, datasets.Kernel),
		}
		reply := bytes.Clone(request)
		n := s.answer(reply, len(request), &a, &treatment{})
		s.seal(reply[:n], &treatment{})
		got, err := wire.NewSTAMP(nil).Reflected(reply)
		asked, _ := wire.NewSTAMP(nil).Test(request)
		ssid := asked.SSID
		if asked.SSID = 0; n != len(request) || err != nil || got.Sender != asked || got.SSID != ssid || got.TTL != 9 || got.Seq != 0 {
			t.Fatalf("%d bytes for %d, %+v, %v", n, len(request), got, err)
		}
		if t2, ok := got.Error.UnixNanos(got.Received, now.UnixNano()); !ok || t2 != now.UnixNano() {
			t.Fatalf("T2 is %d, want %d", t2, now.UnixNano())
		}
		if s.accepts(reply[:n]) {
			t.Fatal("a reply is a request")
		}
		changed := 0
		for i := 44; i < n; i++ {
			if reply[i] != request[i] {
				changed++
			}
		}
		if changed > (n-44)/4 {
			t.Fatalf("%d bytes behind the packet are others", changed)
		}
	})
}
