package wire_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/tickmark/tickmark/datasets/wire"
)

// From a capture to θ, the client's point of view: positive is a slow local clock.
func Example() {
	// A request that left at 10 µs and a reply that came at 40 µs, by a clock that is
	// 5 µs slow; the server says 20 and 30.
	ask, tell := ask(10_000, 1), tell(40_000, 1, 20_000+5_000, 30_000+5_000)
	file := bytes.NewReader(ethernetPcap(onEthernet(ask), onEthernet(tell)))

	capture, err := wire.OpenCapture(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	pairs := wire.NTPPairs{Emit: func(x *wire.NTPExchange) {
		theta := ((x.T2.UnixNanos - x.T1.UnixNanos) + (x.T3.UnixNanos - x.T4.UnixNanos)) / 2
		fmt.Println(x.Client, "asked", x.Server, "of stratum", x.Reply.Stratum, "and is slow by", time.Duration(theta))
	}}
	var p wire.Packet
	for capture.Next(&p) {
		if n, err := wire.DecodeNTP(p.Payload); err == nil {
			pairs.Add(&p, &n)
		}
	}
	pairs.Close()
	fmt.Println(pairs.Counts().Unanswered, "requests unanswered,", capture.Err())
	// Output:
	// 192.0.2.7:40000 asked 198.51.100.1:123 of stratum 1 and is slow by 5µs
	// 0 requests unanswered, <nil>
}

func onEthernet(s seen) record {
	frame := ethernet(0x0800, ipv4(s.Src, s.Dst, s.AppendTo(nil)))
	return record{seconds: uint32(s.UnixNanos / 1e9), part: uint32(s.UnixNanos % 1e9), frame: frame}
}
