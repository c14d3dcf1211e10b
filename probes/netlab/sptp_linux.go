package netlab

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// SPTP runs facebook's client of a PTP4U, steering nothing, and returns when it has
// measured that; it serves its state as JSON at port 4269 of every address of n.
func SPTP(tb testing.TB, n Namespace, server netip.Addr) *Daemon {
	tb.Helper()
	d := newDaemon(tb)
	conf := d.write(tb, "sptp.yaml", fmt.Sprintf("iface: %s\ninterval: 20ms\nexchangetimeout: 15ms\ntimestamping: software\nfreerunning: true\n"+
		"listenaddress: %q\nmonitoringport: 4269\nmaxclockclass: 7\nmaxclockaccuracy: 37\nattemptstxts: 10\ntimeouttxts: 5ms\n"+
		"metricsaggregationwindow: 60s\nservers: {%q: 1}\n"+
		"measurement: {path_delay_filter_length: 59, path_delay_filter: median, path_delay_discard_multiplier: 1000}\nbackoff: {mode: \"\"}\n",
		n.Interface, n.Addr, server))
	d.Ended = n.Start(tb, Build(tb, "sptp"), "-config", conf)
	d.Await(tb, "sptp", func() bool { return strings.Contains(SPTPState(n), `"gm_present":1`) })
	return d
}

// SPTPState is that JSON, "" if nothing answers.
func SPTPState(n Namespace) (state string) {
	_ = n.Do(func() error {
		// This goroutine makes the connection, as one of net/http would not be in n.
		c, err := net.DialTimeout("tcp", netip.AddrPortFrom(n.Addr, 4269).String(), time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Second))
		if _, err := io.WriteString(c, "GET / HTTP/1.0\r\n\r\n"); err != nil {
			return err
		}
		page, err := io.ReadAll(c)
		_, state, _ = strings.Cut(string(page), "\r\n\r\n")
		return err
	})
	return state
}
