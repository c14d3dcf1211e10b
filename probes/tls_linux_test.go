package probes_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
)

// nginx says in the log of its debugging which sessions it has resumed.
func TestTLSBesideNginx(t *testing.T) {
	for protocol, version := range map[string]string{"TLSv1.2": "1.2", "TLSv1.3": "1.3"} {
		for _, resume := range []bool{false, true} {
			n := startNginx(t, protocol)
			spec := "tls:ca=" + n.ca
			if resume {
				spec += ",resume"
			}
			const count = 30
			tr := measure[datasets.Sample](t, spec, "127.0.0.1:"+n.secure, every(50*time.Millisecond, count))
			wantSamples(t, tr, count)
			if got := outcomes(tr); got != "30 replied" {
				t.Fatalf("%s; first row %s", got, tr.rows[0].Extra)
			}
			resumed := 0
			for i, s := range tr.rows {
				if sum := nanos(t, tr, i, "connect_ns") + nanos(t, tr, i, "handshake_ns"); sum != s.Elapsed || cell(t, tr, i, "version") != version {
					t.Errorf("row %d: %v, elapsed %v: %s", i, sum, s.Elapsed, s.Extra)
				}
				if cell(t, tr, i, "resumed") == "1" {
					resumed++
				}
			}
			theirs := n.told(t, "SSL reused session")
			t.Logf("%s: %d of %d resumed; handshake p50 %v", spec, resumed, count, median(t, tr, "handshake_ns"))
			if resumed != theirs || !resume && resumed != 0 || resume && resumed < count/2 {
				t.Errorf("%s: %d resumed, by nginx %d", spec, resumed, theirs)
			}
		}
	}
}

func TestTLSRecovers(t *testing.T) {
	n := startNginx(t, "TLSv1.3")
	recovers(t, "tls:ca="+n.ca, "127.0.0.1:"+n.secure, n.kill, n.start)
	recovers(t, "tls:resume,ca="+n.ca, "127.0.0.1:"+n.secure, n.kill, n.start)
}

// Whom to believe is for the user to say.
func TestTLSTrust(t *testing.T) {
	n := startNginx(t, "TLSv1.3")
	stranger, _ := netlab.SelfSigned(t, netip.MustParseAddr("127.0.0.1"))
	for _, tt := range []struct {
		options, host string
		want          datasets.Outcome
		why           string
	}{
		{"ca=" + n.ca, "127.0.0.1", datasets.Replied, "-"},
		{"ca=" + n.ca, "[::1]", datasets.Invalid, "certificate is valid for 127.0.0.1, not ::1"},
		{"name=127.0.0.1,ca=" + n.ca, "[::1]", datasets.Replied, "-"},
		{"name=elsewhere.test,ca=" + n.ca, "127.0.0.1", datasets.Invalid, "elsewhere.test"},
		{"ca=" + stranger, "127.0.0.1", datasets.Invalid, "certificate"},
		{"", "127.0.0.1", datasets.Invalid, "unknown authority"},
		{"insecure", "127.0.0.1", datasets.Replied, "-"},
		{"insecure,name=elsewhere.test", "[::1]", datasets.Replied, "-"},
	} {
		tr := measure[datasets.Sample](t, strings.TrimSuffix("tls:"+tt.options, ":"), tt.host+":"+n.secure, every(20*time.Millisecond, 3))
		for i, s := range tr.rows {
			if s.Outcome != tt.want || !strings.Contains(cell(t, tr, i, "why"), tt.why) {
				t.Errorf("%s at %s: %s: %s; want %s", tt.options, tt.host, s.Outcome, s.Extra, tt.want)
			}
			if connect := cell(t, tr, i, "connect_ns"); connect == "-" {
				t.Errorf("connected in %s", connect)
			}
		}
	}
}
