package probes_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

// Servers that do not speak TLS, or break off.
func TestTLSHostile(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		then   func(net.Conn)
		want   datasets.Outcome
		why    string
	}{
		"speaks HTTP": {"HTTP/1.1 400 Bad Request\r\n\r\n", closing, datasets.Invalid, "TLS handshake"},
		"closes":      {"", closing, datasets.Refused, "closed the connection"},
		"resets":      {"", resetting, datasets.Refused, "reset"},
		"says no":     {"\x15\x03\x03\x00\x02\x02\x28", nil, datasets.Invalid, "handshake failure"}, // alert 40, RFC 8446 §6
		"is silent":   {"", nil, datasets.TimedOut, "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := handling(t, func(conn net.Conn) {
				in := bufio.NewReader(conn)
				hello := make([]byte, 5) // of a record: its length stands at the end
				if _, err := io.ReadFull(in, hello); err != nil {
					return
				}
				if _, err := in.Discard(int(hello[3])<<8 | int(hello[4])); err != nil {
					return
				}
				_, _ = io.WriteString(conn, tt.answer)
				if tt.then != nil {
					tt.then(conn)
				}
				_, _ = io.Copy(io.Discard, in)
			})
			listen := patience
			if tt.want == datasets.TimedOut {
				listen = 2 * time.Second
			}
			tr := measure[datasets.Sample](t, "tls", at, listening(probes.Plan{Interval: 20 * time.Millisecond, Count: 4}, listen))
			for i, s := range tr.rows {
				if s.Outcome != tt.want || !strings.Contains(cell(t, tr, i, "why"), tt.why) || cell(t, tr, i, "handshake_ns") != "-" {
					t.Errorf("%s: %s; want %s", s.Outcome, s.Extra, tt.want)
				}
				nanos(t, tr, i, "connect_ns")
			}
		})
	}
}
