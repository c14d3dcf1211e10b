package probes

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/facebook/time/ntp/protocol"

	"github.com/tickmark/tickmark/datasets"
)

// ntpTape keeps what an NTP recording hands over.
type ntpTape struct {
	header  *datasets.Header
	rows    []datasets.Exchange
	trailer map[string]string
	each    func(*datasets.Exchange) error
}

func (r *ntpTape) Begin(h *datasets.Header) error {
	r.header = h.Clone()
	return nil
}

func (r *ntpTape) Record(row datasets.Row) error {
	e := row.(*datasets.Exchange)
	r.rows = append(r.rows, *e)
	if r.each != nil {
		return r.each(e)
	}
	return nil
}

func (r *ntpTape) End(trailer ...datasets.Field) error {
	if r.trailer != nil {
		return fmt.Errorf("ended twice")
	}
	r.trailer = map[string]string{}
	for _, f := range trailer {
		r.trailer[f.Key] = f.Value
	}
	return nil
}

// recordNTP runs the probe to its end and returns what it recorded.
func recordNTP(tb testing.TB, target string, plan Plan) *ntpTape {
	tb.Helper()
	tape := &ntpTape{}
	if err := parseNTP(tb, "ntp").Run(tb.Context(), target, plan, tape); err != nil {
		tb.Fatal(err)
	}
	if tape.trailer == nil {
		tb.Fatal("the recording has no end")
	}
	return tape
}

func parseNTP(tb testing.TB, text string) Probe {
	tb.Helper()
	p, _, err := Probes().Parse("probe", text)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// serveNTP answers request n, from 0, with the datagrams that answer returns.
func serveNTP(tb testing.TB, answer func(n int, request []byte) [][]byte) netip.AddrPort {
	tb.Helper()
	return serveNTPOn(tb, netip.MustParseAddr("127.0.0.1"), func(n int, request []byte, _ netip.AddrPort) [][]byte {
		return answer(n, request)
	})
}

func serveNTPOn(tb testing.TB, addr netip.Addr, answer func(n int, request []byte, from netip.AddrPort) [][]byte) netip.AddrPort {
	tb.Helper()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)))
	if err != nil {
		tb.Skipf("this host has no %v: %v", addr, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 9000)
		for n := 0; ; n++ {
			size, from, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			for _, b := range answer(n, buf[:size], from) {
				// A client that has gone answers with an ICMP error; that is its affair.
				_, _ = c.WriteToUDPAddrPort(b, from)
			}
		}
	}()
	tb.Cleanup(func() {
		c.Close()
		<-ended
	})
	return c.LocalAddr().(*net.UDPAddr).AddrPort()
}

// goodReply answers as a sound server of stratum 2 does, its clock offset from
// ours; change, if given, spoils the reply.
func goodReply(request []byte, offset time.Duration, change func(*protocol.Packet)) []byte {
	var asked protocol.Packet
	if err := asked.UnmarshalBinary(request); err != nil {
		return nil
	}
	now := time.Now().Add(offset)
	seconds, fraction := protocol.Time(now)
	reply := protocol.Packet{
		Settings: asked.Settings&^7 | 4, Stratum: 2, Precision: -23, RootDelay: 1 << 10, RootDispersion: 1 << 9,
		ReferenceID: 0x0a4d0001, RefTimeSec: seconds - 16,
		OrigTimeSec: asked.TxTimeSec, OrigTimeFrac: asked.TxTimeFrac,
		RxTimeSec: seconds, RxTimeFrac: fraction, TxTimeSec: seconds, TxTimeFrac: fraction,
	}
	if change != nil {
		change(&reply)
	}
	b, err := reply.Bytes()
	if err != nil {
		return nil
	}
	return b
}

// sound is a server without faults.
func sound(_ int, request []byte) [][]byte { return [][]byte{goodReply(request, 0, nil)} }

// few is a plan of n attempts in quick succession.
func few(n int64) Plan {
	return Plan{Count: n, Interval: time.Millisecond, Listen: datasets.Some(10 * time.Second)}
}
