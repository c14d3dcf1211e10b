package probes_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/probes"
	"github.com/tickmark/tickmark/probes/serve"
	"github.com/tickmark/tickmark/probes/twoway"
)

// reflector is a Session-Reflector of ours with faults, until the test ends.
func reflector(t *testing.T, cfg serve.STAMP, faults ...string) *serve.Server {
	t.Helper()
	if cfg.Addr == "" {
		cfg.Addr = loopback
	}
	all := serve.Config{STAMP: cfg, Seed: 1}
	for _, text := range faults {
		f, _, err := serve.Faults().Parse("fault", text)
		if err != nil {
			t.Fatal(err)
		}
		all.Faults = append(all.Faults, f)
	}
	s, err := serve.Start(all)
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		t.Skipf("this host has no %s", cfg.Addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// keyFile returns a file with a key, and the key.
func keyFile(t *testing.T) (file string, key []byte) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("sixteen bytes of\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := twoway.Key(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, key
}

// stampCell is what a row has in a column of the stamp probe's own; absent is "-".
func stampCell(t *testing.T, tr trace[datasets.Sample], row *datasets.Sample, column string) string {
	t.Helper()
	return strings.Split(row.Extra, "\t")[slices.Index(tr.Extra, column)]
}

func whole(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSTAMPRoundTrips(t *testing.T) {
	file, key := keyFile(t)
	for _, c := range []struct {
		name, spec string
		cfg        serve.STAMP
		size       int
	}{
		{"IPv4", "stamp", serve.STAMP{}, 44},
		{"IPv6", "stamp", serve.STAMP{Addr: "[::1]:0"}, 44},
		{"padded", "stamp:size=1400", serve.STAMP{}, 1400},
		{"stateless", "stamp:stamps=user", serve.STAMP{Stateless: true}, 44},
		{"authenticated", "stamp:key=" + file, serve.STAMP{Key: key}, 112},
		{"authenticated, padded", "stamp:size=200,key=" + file, serve.STAMP{Key: key}, 200},
		{"PTP there", "stamp", serve.STAMP{Format: twoway.PTP}, 44},
		{"PTP here", "stamp:format=ptp", serve.STAMP{}, 44},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reflector(t, c.cfg)
			before := time.Now().UnixNano()
			tr := measure[datasets.Sample](t, c.spec, s.STAMPAddr().String(), every(2*time.Millisecond, 50))
			wantSamples(t, tr, 50)
			for i, row := range tr.rows {
				if row.Outcome != datasets.Replied || row.Copies != 1 || row.Size != c.size || stampCell(t, tr, &row, "why") != "-" || whole(t, stampCell(t, tr, &row, "server_seq")) != int64(i) {
					t.Fatalf("%+v", row)
				}
				if ttl := stampCell(t, tr, &row, "server_ttl"); ttl != "255" && runtime.GOOS == "linux" {
					t.Fatalf("TTL %q", ttl)
				}
				inOrder(t, tr, &row, before)
			}
			for key, want := range map[string]string{
				"kind": "rtt", "stamps": "user", "sent": "50", "skipped": "0", "junk": "0", "doubtful": "0", "unfinished": "0",
				"lost-undecided": "0", "hmac-failures": "0", "reflector-error-missing": "0",
				"reflector": "stateless, or nothing was lost on the way there",
			} {
				if got := tr.Text(key); got != want {
					t.Errorf("%s: got %q, want %q", key, got, want)
				}
			}
		})
	}
}

// inOrder checks a row's stamps: both ends are of one clock here. The reflector may count
// TAI, some whole seconds ahead.
func inOrder(t *testing.T, tr trace[datasets.Sample], row *datasets.Sample, before int64) {
	t.Helper()
	stamps := []int64{before}
	for _, column := range []string{"t1", "t2", "t3", "t4"} {
		text := stampCell(t, tr, row, column)
		if text == "-" && runtime.GOOS != "linux" {
			return
		}
		stamps = append(stamps, whole(t, text))
	}
	ahead := (stamps[2] - stamps[1]) / 1e9 * 1e9
	stamps[2], stamps[3] = stamps[2]-ahead, stamps[3]-ahead
	// The kernel's stamp of a departure may be a little behind that of the arrival, which
	// loopback takes in the same call.
	if stamps[1] > stamps[2] && stamps[1]-stamps[2] < int64(time.Millisecond) {
		stamps[1] = stamps[2]
	}
	if !slices.IsSorted(append(stamps, time.Now().UnixNano())) || stamps[3]-stamps[2] != whole(t, stampCell(t, tr, row, "server_ns")) {
		t.Fatalf("stamps %d: not in order; %q", stamps, row.Extra)
	}
}

// The faults of the reflector come out as what they are.
func TestSTAMPOutcomes(t *testing.T) {
	file, key := keyFile(t)
	for _, c := range []struct {
		name, spec string
		cfg        serve.STAMP
		fault      string
		want       string
		trailer    map[string]string
	}{
		{"another session", "stamp", serve.STAMP{}, "wrong-origin", "20 timed-out", map[string]string{"junk": "20", "lost-undecided": "20"}},
		{"too long", "stamp", serve.STAMP{}, "oversized", "20 invalid", map[string]string{"doubtful": "20"}},
		{"too short", "stamp", serve.STAMP{}, "short", "20 timed-out", map[string]string{"junk": "20"}},
		{"copies", "stamp", serve.STAMP{}, "duplicate:share=100%,copies=2", "20 replied", map[string]string{"junk": "0", "lost-undecided": "0"}},
		{"reordered", "stamp", serve.STAMP{}, "reorder:share=30%,by=5ms", "20 replied", map[string]string{"junk": "0", "lost-undecided": "0"}},
		{"no key here", "stamp:size=200", serve.STAMP{Key: key}, "offset:by=0s", "20 timed-out", map[string]string{"junk": "0"}},
		{"no key there", "stamp:key=" + file, serve.STAMP{}, "offset:by=0s", "20 timed-out", map[string]string{"junk": "20", "hmac-failures": "20"}},
		{"T3 before T2", "stamp", serve.STAMP{}, "t3-before-t2", "20 replied", map[string]string{"junk": "0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reflector(t, c.cfg, c.fault)
			tr := measure[datasets.Sample](t, c.spec, s.STAMPAddr().String(), listening(probes.Plan{Interval: time.Millisecond, Count: 20}, 500*time.Millisecond))
			if got := outcomes(tr); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			for key, want := range c.trailer {
				if got := tr.Text(key); got != want {
					t.Errorf("%s: got %q, want %q", key, got, want)
				}
			}
			row := &tr.rows[0]
			switch c.name {
			case "too long":
				if why := stampCell(t, tr, row, "why"); !strings.Contains(why, "longer") {
					t.Errorf("why: %q", why)
				}
			case "copies":
				if row.Copies != 3 {
					t.Errorf("%d copies", row.Copies)
				}
			case "T3 before T2":
				if stampCell(t, tr, row, "t3") != "-" || stampCell(t, tr, row, "server_ns") != "-" || stampCell(t, tr, row, "t2") == "-" {
					t.Errorf("%q", row.Extra)
				}
			}
		})
	}
}

// Nobody listens: every attempt is refused, or not answered where ICMP is limited.
func TestSTAMPRefused(t *testing.T) {
	c, err := net.ListenPacket("udp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	tr := measure[datasets.Sample](t, "stamp", c.LocalAddr().String(), listening(probes.Plan{Interval: 5 * time.Millisecond, Count: 10}, 300*time.Millisecond))
	refused := 0
	for _, row := range tr.rows {
		if row.Outcome == datasets.Refused {
			refused++
		}
	}
	if len(tr.rows) != 10 || refused < 5 {
		t.Errorf("%s", outcomes(tr))
	}
}

func TestSTAMPOptions(t *testing.T) {
	for text, want := range map[string]string{
		"stamp:size=45": "want 44, or 48 to", "stamp:size=44": "", "stamp:size=48": "", "stamp:key=f,size=48": "want 112, or 116 to",
		"stamp:ssid=65536": "ssid 65536", "stamp:ttl=0": "ttl 0", "stamp:format=gps": "gps", "stamp:reflector=no": "reflector \"no\"", "stamp:stamps=hardware": "stamps \"hardware\"",
	} {
		_, _, err := probes.Probes().Parse("probe", text)
		if (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	var wrong *spec.UsageError
	if err := parse(t, "stamp").Run(t.Context(), "127.0.0.1:70000", probes.Plan{Count: 1}, &recording{}); !errors.As(err, &wrong) {
		t.Errorf("%v", err)
	}
	if err := parse(t, "stamp:key=/nowhere/key").Run(t.Context(), "127.0.0.1", probes.Plan{Count: 1}, &recording{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
