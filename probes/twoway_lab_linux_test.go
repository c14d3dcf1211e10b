package probes

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/netlab"
	"github.com/tickmark/tickmark/probes/serve"
)

const (
	debianPython = "/usr/bin/python3" // which Debian's packages are for
	stampPeer    = "testdata/stamp_peer.py"
)

// scapyIn returns a namespace in which Scapy can be had, or skips: it reads and writes
// STAMP by people who are not us.
func scapyIn(t *testing.T, n netlab.Namespace) netlab.Namespace {
	t.Helper()
	if _, err := os.Stat(debianPython); err != nil {
		t.Skipf("needs %s, which is not there", debianPython)
	}
	unpacked, err := filepath.Abs("../bin/tools/usr/lib/python3/dist-packages")
	if err != nil {
		t.Fatal(err)
	}
	n = n.With("PYTHONPATH=" + unpacked)
	if out, err := n.Run(t, debianPython, "-c", "import scapy.contrib.stamp"); err != nil {
		t.Skipf("needs Scapy with its STAMP (Debian package python3-scapy), which is not there: %.60s", lastLine(out))
	}
	return n
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// stampIn runs the stamp probe in a namespace.
func stampIn(t *testing.T, n netlab.Namespace, spec, target string, plan Plan) *tape {
	t.Helper()
	p, _, err := Probes().Parse("probe", spec)
	if err != nil {
		t.Fatal(err)
	}
	rec := &tape{}
	if err := n.Do(func() error { return p.Run(t.Context(), target, plan, rec) }); err != nil {
		t.Fatal(err)
	}
	return rec
}

// reflectorIn runs our reflector in a namespace, at the usual port.
func reflectorIn(t *testing.T, n netlab.Namespace) *serve.Server {
	t.Helper()
	var s *serve.Server
	if err := n.Do(func() (err error) {
		s, err = serve.Start(serve.Config{STAMP: serve.STAMP{Addr: netip.AddrPortFrom(n.Addr, wire.STAMPPort).String()}})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSTAMPToScapysReflector(t *testing.T) {
	lab := netlab.New(t)
	server := scapyIn(t, lab.Server)
	awaitReflector(t, lab, server.Start(t, debianPython, stampPeer, "reflect", server.Addr.String(), "862"))
	for spec, size := range map[string]int{"stamp": 44, "stamp:size=60": 60} {
		rec := stampIn(t, lab.Client, spec, server.Addr.String(), Plan{Count: 50, Interval: 5 * time.Millisecond, Listen: datasets.Some(20 * time.Second)})
		for i, row := range rec.samples {
			cells := strings.Split(row.Extra, "\t")
			var at [4]int64
			for j := range at {
				if err := json.Unmarshal([]byte(cells[j]), &at[j]); err != nil {
					t.Fatalf("%q: %v", row.Extra, err)
				}
			}
			// Python's clock has microseconds at this distance from 1900, if not less: 2⁻²¹ s.
			const rough = int64(time.Microsecond)
			if row.Outcome != datasets.Replied || row.Size != size || cells[5] != "255" || cells[6] == "-" ||
				at[1] < at[0]-rough || at[2] < at[1] || at[3] < at[2]-rough {
				t.Fatalf("row %d: %+v", i, row)
			}
		}
		if len(rec.samples) != 50 || rec.trailer.Text("junk") != "0" || rec.trailer.Text("reflector-synchronised") != "50 of 50" || rec.trailer.Text("lost-undecided") != "0" {
			t.Errorf("%s: %d rows; trailer %v", spec, len(rec.samples), rec.trailer)
		}
	}
}

// awaitReflector returns when somebody reflects.
func awaitReflector(t *testing.T, lab *netlab.Pair, ended <-chan struct{}) {
	t.Helper()
	for range 100 {
		rec := stampIn(t, lab.Client, "stamp", lab.Server.Addr.String(), Plan{Count: 1, Listen: datasets.Some(200 * time.Millisecond)})
		if rec.samples[0].Outcome == datasets.Replied {
			return
		}
		select {
		case <-ended:
			t.Fatal("the reflector has ended")
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatal("nobody reflects")
}

func TestSTAMPFromScapysSender(t *testing.T) {
	lab := netlab.New(t)
	client := scapyIn(t, lab.Client)
	reflectorIn(t, lab.Server)
	out, err := client.Run(t, debianPython, stampPeer, "send", lab.Server.Addr.String(), "862", "20")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 20 {
		t.Fatalf("%s", out)
	}
	for i, line := range lines {
		var r struct {
			Length, Seq, SSID, Sender, TTL, Multiplier, Z, MBZ int
			Out, There, Back                                   float64
			Copied                                             bool
			TLVs                                               [][]any
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		const rough = -1e-6
		tlvs, _ := json.Marshal(r.TLVs)
		if r.Length != 44+9+6 || r.Seq != i || r.SSID != 4321 || r.Sender != 70+i || r.TTL != 64 || r.Multiplier == 0 || r.Z != 0 || r.MBZ != 0 || !r.Copied ||
			r.Out < rough || r.There < 0 || r.Back < rough || r.Out+r.There+r.Back > 10 ||
			string(tlvs) != `[[0,1,"abcde"],[128,222,"xy"]]` {
			t.Fatalf("reply %d: %s", i, line)
		}
	}
}
