package probes

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/probes/netlab"
)

// tape keeps the header beside what rowsOf keeps.
type tape struct {
	rowsOf
	header datasets.Header
}

func (t *tape) Begin(h *datasets.Header) error {
	t.header = *h
	return nil
}

// outcomesOf counts the rows of each outcome.
func (t *tape) outcomesOf() map[datasets.Outcome]int {
	counts := map[datasets.Outcome]int{}
	for _, s := range t.samples {
		counts[s.Outcome]++
	}
	return counts
}

// icmpIn runs the icmp probe in a namespace.
func icmpIn(t *testing.T, n netlab.Namespace, target string, plan Plan) *tape {
	t.Helper()
	rec := &tape{}
	p := icmp{size: 96}
	if err := n.Do(func() error { return p.Run(t.Context(), target, plan, rec) }); err != nil {
		t.Fatal(err)
	}
	return rec
}

// allowPing lets every group of a namespace use datagram sockets, or none.
func allowPing(t *testing.T, n netlab.Namespace, groups string) {
	t.Helper()
	if err := n.Do(func() error { return os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte(groups), 0o644) }); err != nil {
		t.Skipf("net.ipv4.ping_group_range: %v", err)
	}
}

func TestICMPOverBothKindsOfSocket(t *testing.T) {
	lab := netlab.New(t)
	for groups, kind := range map[string]string{"0 2147483647": datagramICMP, "1 0": rawICMP} {
		allowPing(t, lab.Client, groups)
		for _, target := range []string{"127.0.0.1", "::1", lab.Server.Addr.String()} {
			rec := icmpIn(t, lab.Client, target, Plan{Count: 200, Interval: time.Millisecond, Listen: datasets.Some(20 * time.Second)})
			if len(rec.samples) != 200 || rec.outcomesOf()[datasets.Replied] != 200 || rec.trailer.Text("junk") != "0" || rec.trailer.Text("doubtful") != "0" {
				t.Errorf("%s, %s: %v; trailer %v", kind, target, rec.outcomesOf(), rec.trailer)
			}
			if got := rec.header.Text("socket"); got != kind || rec.header.Text("stall-stamps") != "kernel" {
				t.Errorf("%s, %s: socket %q, stall-stamps %q", kind, target, got, rec.header.Text("stall-stamps"))
			}
			for _, s := range rec.samples {
				if s.Size != 96 || s.Copies != 1 || s.Extra != "" {
					t.Fatalf("%+v", s)
				}
			}
		}
	}
}

// Nobody has the address: the kernel says so of each echo, 3 s after the first (three
// times net.ipv4.neigh.default.retrans_time_ms).
func TestICMPUnreachable(t *testing.T) {
	t.Parallel()
	lab := netlab.New(t)
	for _, groups := range []string{"0 2147483647", "1 0"} {
		allowPing(t, lab.Client, groups)
		rec := icmpIn(t, lab.Client, "10.77.0.99", Plan{Count: 20, Interval: 10 * time.Millisecond, Listen: datasets.Some(10 * time.Second)})
		if n := rec.outcomesOf()[datasets.Refused]; n < 15 || n+rec.outcomesOf()[datasets.TimedOut] != 20 {
			t.Errorf("ping_group_range %s: %v; trailer %v", groups, rec.outcomesOf(), rec.trailer)
		}
	}
}

// The cable is pulled and put back: what was due without it could not be sent or was not
// answered, and what is due after it is answered.
func TestICMPSurvivesItsInterface(t *testing.T) {
	lab := netlab.New(t)
	down := time.AfterFunc(300*time.Millisecond, func() {
		_, _ = lab.Client.Run(t, "ip", "link", "set", "vc", "down")
		time.AfterFunc(300*time.Millisecond, func() { _, _ = lab.Client.Run(t, "ip", "link", "set", "vc", "up") })
	})
	defer down.Stop()
	rec := icmpIn(t, lab.Client, lab.Server.Addr.String(), Plan{Count: 300, Interval: 10 * time.Millisecond, Listen: datasets.Some(2 * time.Second)})
	last := rec.samples[len(rec.samples)-1]
	counts := rec.outcomesOf()
	if len(rec.samples) != 300 || last.Outcome != datasets.Replied || counts[datasets.Invalid] > 0 || counts[datasets.Replied] == 300 {
		t.Errorf("%d rows, %v, the last %v; trailer %v", len(rec.samples), counts, last.Outcome, rec.trailer)
	}
}

func TestICMPIsNotAllowed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give up its rights")
	}
	lab := netlab.New(t)
	allowPing(t, lab.Client, "1 0")
	err := lab.Client.Do(func() error {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := unix.Capset(&header, &none[0]); err != nil { // of this thread, which ends with Do
			return err
		}
		return icmp{size: 96}.Run(t.Context(), "127.0.0.1", Plan{Count: 1}, &tape{})
	})
	if err == nil || !strings.Contains(err.Error(), "net.ipv4.ping_group_range") || !strings.Contains(err.Error(), "CAP_NET_RAW") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

func TestICMPTargetHasNoPort(t *testing.T) {
	var wrong *spec.UsageError
	if err := (icmp{size: 96}).Run(t.Context(), "127.0.0.1:7", Plan{Count: 1}, &tape{}); !errors.As(err, &wrong) {
		t.Errorf("%v", err)
	}
}

// The kernel's words for an echo that a router could not pass on, and for what is none.
func FuzzParseRefusal(f *testing.F) {
	quote := []byte{8, 0, 0, 0, 0xbe, 0xef, 1, 2}
	extended := make([]byte, 16+16)
	extended[0], extended[4], extended[5], extended[6] = byte(unix.EHOSTUNREACH), unix.SO_EE_ORIGIN_ICMP, 3, 1
	control := func(level, kind int32, data []byte) []byte {
		b := make([]byte, unix.CmsgSpace(len(data)))
		for i, v := range []int32{int32(unix.CmsgLen(len(data)))} {
			b[i] = byte(v)
		}
		at := unix.CmsgLen(0) - 8
		b[at], b[at+4] = byte(level), byte(kind)
		copy(b[unix.CmsgLen(0):], data)
		return b
	}
	f.Add(quote, control(unix.SOL_IP, unix.IP_RECVERR, extended))
	f.Add(quote[:7], control(unix.SOL_IP, unix.IP_RECVERR, extended))
	f.Add(quote, control(unix.SOL_IP, unix.IP_RECVERR, extended[:15]))
	if r := parseRefusal(quote, control(unix.SOL_IP, unix.IP_RECVERR, extended)); r == nil || r.seq != 0x102 || r.why != "no route to host" {
		f.Fatalf("%+v", r)
	}
	f.Fuzz(func(t *testing.T, quote, controls []byte) {
		if r := parseRefusal(quote, controls); r != nil && (len(quote) < icmpHeader || len(controls) < unix.CmsgLen(16)) {
			t.Fatalf("%x %x: %+v", quote, controls, r)
		}
	})
}
