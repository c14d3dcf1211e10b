package datasets_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

func TestLatenciesOfReports(t *testing.T) {
	for _, c := range []struct {
		format, sample, series string
		want                   []string
	}{
		{"irtt", "some.json", "", []string{"38.254718ms", "timed-out", "1ms"}},
		{"ghz", "report.json", "", []string{"42.462755ms", "timed-out", "1µs"}},
		{"k6", "some.log", "http_req_duration", []string{"121.233058ms", "timed-out"}},
		{"hey", "some.log", "", []string{"5.3ms", "304.6ms"}},
		{"vegeta", "csv.log", "load http://192.0.2.1/", []string{"5ms", "timed-out", "7.000001ms"}},
		{"vegeta", "json.log", "http://192.0.2.1/", []string{"5ms", "refused"}},
		{"flent", "some.flent", "Ping (ms) ICMP", []string{"10.6ms", "10.5ms"}},
		{"atlas", "results.json", "probe 71 to 192.0.2.1", []string{"49.49372ms", "timed-out", "lost-local"}},
		{"jepsen", "history.edn", "cas", []string{"2.5µs"}}, // that it failed is an answer
		{"jepsen", "history.edn", "write", []string{"7µs"}},
		{"jepsen", "history.edn", "read", []string{"timed-out"}},
		{"cyclictest", "verbose.txt", "thread 0", []string{"68µs", "65µs"}},
	} {
		got := fates(importSample(t, c.format, c.sample).rows[c.series])
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %q: %s", c.format, c.series, diff)
		}
	}
	for _, c := range []struct {
		format, sample, series string
		want                   []string
	}{
		{"hgrm", "java.txt", "", []string{"0s 0s..1ms 1", "0s 1ms..2ms 4", "0s 2ms..8.5ms 4", "0s 8.5ms..20ms 1"}},
		{"wrk", "wrk.txt", "", []string{"0s 0s..250µs 11232", "0s 250µs..491µs 5616", "0s 491µs..700µs 3370", "0s 700µs..5.8ms 2021", "0s 5.8ms..∞ 225"}},
		{"wrk", "wrk2.txt", "uncorrected", []string{"0s 0s..2.671ms 60", "0s 2.671ms..7.503ms 40"}},
		{"fortio", "result.json", "", []string{"0s 50.000001ms..60ms 3", "0s 60ms..310ms 3"}},
		{"nighthawk", "out.json", "worker_0 stat_id", []string{"0s 1ms..3ms 3"}},
		{"nighthawk", "out.json", "worker_0 latency", []string{"0s 0s..1ms 1", "0s 1ms..2.500001ms 2", "0s 2.500001ms..100ms 1"}},
		{"cyclictest", "hist.txt", "thread 0", []string{"0s 4µs..4.999µs 10", "0s 5µs..5.999µs 2", "0s 6µs..∞ 1"}},
		{"oslat", "some.txt", "core 0", []string{"0s 1µs..1.999µs 977", "0s 3µs..∞ 7"}},
		{"mtr", "report.json", "2 192.0.2.9", []string{"0s 5.25ms..5.5ms 5"}},
	} {
		if diff := cmp.Diff(c.want, bins(importSample(t, c.format, c.sample).rows[c.series])); diff != "" {
			t.Errorf("%s %q: %s", c.format, c.series, diff)
		}
	}
	// RFC 5905's θ is the other way round than Atlas's offset.
	e := importSample(t, "atlas", "results.json").rows["probe 71 to t.example"][0].(*datasets.Exchange)
	if theta, _ := e.Offset(); theta != 8500*time.Millisecond {
		t.Error(theta)
	}
	if e := importSample(t, "matrix-json", "two.json").rows[""][1].(*datasets.Entry); optional(t, e.Elapsed) != 12358*time.Microsecond || e.From != "a" || e.To != "b" {
		t.Error(e)
	}
}

// A value that has no end ends the document, not the memory.
func TestEndlessValue(t *testing.T) {
	text := `{"version":{"irtt":"0.9.0","json_format":1},"round_trips":[{"seqno":0,"lost":"` + strings.Repeat("x", 40<<20)
	_, err := importAll("endless.json", []byte(text), nil)
	if err == nil || !strings.Contains(err.Error(), "a value of more than 16777216 bytes") {
		t.Error(err)
	}
}

// Numbers are those of MANIFEST.tsv, and where they are not, counted otherwise as told.
func TestCorpusReports(t *testing.T) {
	corpus(t, "MANIFEST.tsv")
	for path, want := range map[string]int{
		"ghz/SayHello-report1.json":                     193, // details in the file, of 200 calls
		"hey/hey-run1.csv":                              588,
		"vegeta/results.csv":                            1500,
		"k6/result.json.gz":                             2415, // points of metrics that contain times, by Python's json
		"nighthawk/output_formatter.medium.fortio.gold": 31,
		"ripe-atlas/starlink-ping-a.json":               1616,
		"ripe-atlas/ntp-timeout.json":                   3,
		"rtt-matrix/PlanetLabData_1":                    490 * 490,
		"rtt-matrix/SeattleData_1":                      99 * 99,
		"rtt-matrix/SeattleData_2":                      99 * 99,
		"rtt-matrix/gcp-inter-region.json":              18 * 18,
		"cyclictest/lab-2.40-verbose.txt":               50, // by grep; the manifest says 60, and there are 50
		"jepsen/rethink-fail.edn":                       250,
		"mtr/report-10-hubs.json":                       10,
		"iperf3/iperf-3.12-udp.json":                    1,
		"oslat/lab-2.40.txt":                            -1,
		"nighthawk/output_formatter.json.gold":          -1,
		"ghz/SayHellos-report2.json":                    -1,
	} {
		t.Run(path, func(t *testing.T) {
			all := corpusFile(t, path)
			if n := count(all); n != want && want >= 0 || n == 0 {
				t.Errorf("%d rows, want %d; %v", n, want, all.warnings)
			}
		})
	}
	for path, why := range map[string]string{
		"iperf3/iperf-3.0.11-tcp.json": "iperf3 before 3.1 tells none of TCP's",
		"flent/test-voip-1up.flent.gz": "delays of one way are no round trips",
	} {
		t.Run(path, func(t *testing.T) {
			if _, err := importAll(path, []byte(corpus(t, path)), nil); err == nil || !strings.Contains(err.Error(), why) {
				t.Error(err)
			}
		})
	}
	t.Run("irtt/asym-loss.json.gz", func(t *testing.T) {
		rows := corpusFile(t, "irtt/asym-loss.json.gz").rows[""]
		lost := map[string]int{}
		var answered []time.Duration
		for _, r := range rows {
			s := r.(*datasets.Sample)
			which, _, _ := strings.Cut(s.Extra, "\t")
			lost[which]++
			if s.Outcome.Answered() {
				answered = append(answered, s.Elapsed)
			}
		}
		slices.Sort(answered)
		var sum time.Duration
		for _, d := range answered {
			sum += d
		}
		// irtt's own 2.35 % and 1.37 % take duplicates for packets that came: of each
		// packet it says 25 and 22, which are the 47 that are missing.
		got := fmt.Sprintf("%d of %d, up %d, down %d, min %.2f mean %.2f median %.2f max %.2f", len(answered), len(rows), lost["true_up"], lost["true_down"],
			ms(answered[0]), ms(sum)/549, ms(answered[274]), ms(answered[548]))
		if want := "549 of 596, up 25, down 22, min 30.42 mean 36.90 median 36.09 max 56.88"; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	})
	t.Run("ripe-atlas/starlink-ping-a.json/rtts", func(t *testing.T) {
		var rtts []time.Duration
		for _, rows := range corpusFile(t, "ripe-atlas/starlink-ping-a.json").rows {
			for _, r := range rows {
				if s := r.(*datasets.Sample); s.Outcome.Answered() {
					rtts = append(rtts, s.Elapsed)
				}
			}
		}
		slices.Sort(rtts)
		median := rtts[len(rtts)/2] // the upper of the two, as the manifest has it
		if got := fmt.Sprintf("%d %.6f %.6f %.6f", len(rtts), ms(rtts[0]), ms(median), ms(rtts[len(rtts)-1])); got != "1594 20.471216 40.637295 277.527253" {
			t.Error(got)
		}
	})
	t.Run("ripe-atlas/ntp-valid.json", func(t *testing.T) {
		for i, want := range []float64{8.363271, 8.36871, 8.372775} { // less the offsets that Atlas prints
			e := corpusFile(t, "ripe-atlas/ntp-valid.json").rows["probe 71 to atlas"][i].(*datasets.Exchange)
			if theta, _ := e.Offset(); theta.Seconds() < want-2e-6 || theta.Seconds() > want+2e-6 {
				t.Error(i, theta, want)
			}
		}
	})
	for path, want := range map[string]map[string]int{
		"flent/test-rrul.flent.gz":      {"Ping (ms) ICMP": 682, "Ping (ms) UDP BE1": 35, "Ping (ms) UDP BE2": 35, "Ping (ms) UDP BE3": 33},
		"flent/test-http-1up.flent.gz":  {"HTTP latency": 751},
		"flent/test-rrul-icmp.flent.gz": {"Ping (ms) ICMP": 747},
	} {
		t.Run(path, func(t *testing.T) {
			got := map[string]int{}
			for name, rows := range corpusFile(t, path).rows {
				got[name] = len(rows)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	for path, want := range map[string][]int64{
		"cyclictest/hist-4threads.txt": {11055136, 11055141, 11055141, 11055131},
		"cyclictest/lab-2.40-hist.txt": {14852 + 841, 14817 + 801}, // the total excludes what overflowed
	} {
		t.Run(path, func(t *testing.T) {
			all := corpusFile(t, path)
			for thread, total := range want {
				n := int64(0)
				for _, r := range all.rows[fmt.Sprintf("thread %d", thread)] {
					n += r.(*datasets.Bin).Count
				}
				if n != total {
					t.Errorf("thread %d: %d, want %d", thread, n, total)
				}
			}
		})
	}
	t.Run("jepsen/rethink-fail.edn/outcomes", func(t *testing.T) {
		got := map[string]int{}
		for _, rows := range corpusFile(t, "jepsen/rethink-fail.edn").rows {
			for _, r := range rows {
				got[r.(*datasets.Sample).Extra]++
			}
		}
		if diff := cmp.Diff(map[string]int{"ok": 125, "fail": 121, "info": 4}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("vegeta/results.csv/codes", func(t *testing.T) { // those of vegeta's own report
		got := map[int]int{}
		var most time.Duration
		for _, rows := range corpusFile(t, "vegeta/results.csv").rows {
			for _, r := range rows {
				s := r.(*datasets.Sample)
				code, _ := s.Status.Value()
				got[code]++
				most = max(most, s.Elapsed)
			}
		}
		if diff := cmp.Diff(map[int]int{0: 15, 200: 1437, 503: 48}, got); diff != "" || most.Round(time.Millisecond) != 1059*time.Millisecond {
			t.Error(diff, most)
		}
	})
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

func FuzzK6(f *testing.F)         { fuzzFormat(f, "k6") }
func FuzzGhz(f *testing.F)        { fuzzFormat(f, "ghz") }
func FuzzFortio(f *testing.F)     { fuzzFormat(f, "fortio") }
func FuzzNighthawk(f *testing.F)  { fuzzFormat(f, "nighthawk") }
func FuzzCyclictest(f *testing.F) { fuzzFormat(f, "cyclictest") }
func FuzzOslat(f *testing.F)      { fuzzFormat(f, "oslat") }
func FuzzJepsen(f *testing.F)     { fuzzFormat(f, "jepsen") }
func FuzzIRTT(f *testing.F)       { fuzzFormat(f, "irtt") }
func FuzzFlent(f *testing.F)      { fuzzFormat(f, "flent") }
func FuzzIperf3(f *testing.F)     { fuzzFormat(f, "iperf3") }
func FuzzAtlas(f *testing.F)      { fuzzFormat(f, "atlas") }
func FuzzMTR(f *testing.F)        { fuzzFormat(f, "mtr") }
func FuzzMatrix(f *testing.F)     { fuzzFormat(f, "matrix") }
func FuzzMatrixJSON(f *testing.F) { fuzzFormat(f, "matrix-json") }
