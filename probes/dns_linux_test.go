package probes_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

// dnsServer runs Debian's dnsmasq, which knows a few names and asks nobody.
func dnsServer(t *testing.T) (s *realServer, port string) {
	t.Helper()
	port = freePort(t)
	args := []string{
		"dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--pid-file=", "--user=",
		"--port=" + port, "--edns-packet-max=4096", "--bind-interfaces", "--listen-address=127.0.0.1", "--listen-address=::1",
		"--address=/tick.test/192.0.2.7", "--address=/tick.test/2001:db8::7", "--address=/no.test/",
	}
	for i := range 8 {
		args = append(args, fmt.Sprintf("--txt-record=big.test,%d%s", i, strings.Repeat("x", 200)))
	}
	return serveReal(t, nil, accepts("127.0.0.1:"+port), args...), port
}

func TestDNS(t *testing.T) {
	_, port := dnsServer(t)
	for _, host := range []string{"127.0.0.1", "::1"} {
		for _, transport := range []string{"udp", "tcp"} {
			for _, tt := range []struct {
				query              string
				status             int // RFC 1035, 4.1.1
				answers, truncated string
			}{
				{"name=tick.test,type=A", 0, "1", "0"},
				{"name=TICK.test.,type=aaaa", 0, "1", "0"},
				{"name=x.no.test,type=A", 3, "0", "0"},
				{"name=elsewhere.example,type=MX", 5, "0", "0"},
				{"name=big.test,type=TXT,edns=4096", 0, "8", "0"},
				{"name=big.test,type=TXT,edns=0", 0, "2", "1"}, // 512 − 12 − 14 bytes of question hold 2 records of 213
			} {
				spec := "dns:transport=" + transport + "," + tt.query
				if transport == "tcp" && tt.truncated == "1" {
					tt.answers, tt.truncated = "8", "0"
				}
				tr := measure[datasets.Sample](t, spec, net.JoinHostPort(host, port), every(5*time.Millisecond, 5))
				wantSamples(t, tr, 5)
				for i, s := range tr.rows {
					status, ok := s.Status.Value()
					if s.Outcome != datasets.Replied || !ok || status != tt.status || cell(t, tr, i, "answers") != tt.answers ||
						cell(t, tr, i, "truncated") != tt.truncated || cell(t, tr, i, "ignored") != "0" {
						t.Errorf("%s at %s: %s, status %d, %s", spec, host, s.Outcome, status, s.Extra)
					}
				}
			}
		}
	}
}

func TestDNSRecovers(t *testing.T) {
	for _, transport := range []string{"udp", "tcp"} {
		s, port := dnsServer(t)
		recovers(t, "dns:name=tick.test,transport="+transport, "127.0.0.1:"+port, s.kill, s.start)
	}
}

// Somebody who guesses gets in between: what does not fit is passed over, and when
// nothing else comes, it was not an answer.
func TestDNSHostile(t *testing.T) {
	garble := func(b []byte, at int) []byte {
		c := append([]byte{}, b...)
		c[2] |= 0x80
		c[at]++
		return c
	}
	for name, tt := range map[string]struct {
		answers func(query []byte) [][]byte
		want    datasets.Outcome
		ignored string
	}{
		"forged, then right": {func(q []byte) [][]byte { return [][]byte{garble(q, 1), garble(q, 13), {}, q[:7], garble(q, 3)} }, datasets.Replied, "4"},
		"only forged":        {func(q []byte) [][]byte { return [][]byte{garble(q, 1), garble(q, 13)} }, datasets.Invalid, "2"},
		"malformed":          {func(q []byte) [][]byte { return [][]byte{garble(q, 7)} }, datasets.Invalid, "0"},
		"silence":            {func([]byte) [][]byte { return nil }, datasets.TimedOut, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.ListenPacket("udp", loopback)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			go func() {
				for b := make([]byte, 512); ; {
					n, from, err := conn.ReadFrom(b)
					if err != nil {
						return
					}
					for _, a := range tt.answers(b[:n]) {
						_, _ = conn.WriteTo(a, from)
					}
				}
			}()
			listen := patience
			if tt.want != datasets.Replied {
				listen = 2 * time.Second
			}
			plan := listening(probes.Plan{Interval: 5 * time.Millisecond, Count: 4}, listen)
			tr := measure[datasets.Sample](t, "dns:name=tick.test,type=A,edns=0", conn.LocalAddr().String(), plan)
			wantSamples(t, tr, 4)
			for i, s := range tr.rows {
				if s.Outcome != tt.want || cell(t, tr, i, "ignored") != tt.ignored {
					t.Errorf("%s: %s", s.Outcome, s.Extra)
				}
			}
		})
	}
}

func TestDNSRefusesOptions(t *testing.T) {
	for _, spec := range []string{
		"dns:type=B", "dns:type=TYPE0", "dns:edns=100", "dns:edns=9000", "dns:transport=quic", "dns:name=a..b",
		"dns:name=" + strings.Repeat("a", 64), "dns:name=" + strings.Repeat("a.", 200),
	} {
		if _, _, err := probes.Probes().Parse("probe", spec); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
