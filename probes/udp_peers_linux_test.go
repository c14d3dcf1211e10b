package probes

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
)

// besidePeers is how long a round of each tool lasts; make bench-peers sets it.
const besidePeers = "TICKMARK_BENCH_PEERS"

// measured is what one tool says in one round.
type measured struct {
	latencies []time.Duration // ascending
	quantiles map[float64]time.Duration
	rate      float64 // reached, of what was asked for
	cpu       time.Duration
}

func (m *measured) at(q float64) time.Duration {
	if d, ok := m.quantiles[q]; ok {
		return d
	}
	if len(m.latencies) == 0 {
		return 0
	}
	return quantileOf(m.latencies, q)
}

// Beside the other tools, on one path in one run, each with its own server and 1 probe a
// millisecond: our median and 99th percentile are no worse than irtt's, the rate is kept,
// and the path alone is shorter than what fping sees.
func TestLabBesideRoundTripTools(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv(besidePeers))
	if err != nil {
		t.Skipf("takes minutes: make bench-peers runs it (%s=30s)", besidePeers)
	}
	lab := netlab.New(t)
	tools := peersOf(t, lab, length)
	rounds := map[string][]measured{}
	for range 3 {
		for _, tool := range tools {
			for name, m := range tool() {
				rounds[name] = append(rounds[name], m)
			}
		}
	}
	medians := map[string]*measured{}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "medians of 3 rounds\tp50\tp99\tp99.9\tCPU s\trate reached\t")
	for _, name := range sortedKeys(rounds) {
		m := medianOf(rounds[name])
		medians[name] = m
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.2f\t%.2f %%\t\n", name, µs(m.at(.5)), µs(m.at(.99)), µs(m.at(.999)), m.cpu.Seconds(), 100*m.rate)
	}
	w.Flush()
	t.Logf("1 probe/ms for %s, µs\n%s", length, out.String())
	ours, irtt, path, fping := medians["tickmark, user stamps"], medians["irtt"], medians["tickmark, path alone"], medians["fping"]
	for _, q := range []float64{.5, .99} {
		if ours.at(q) > irtt.at(q) {
			t.Errorf("p%g: ours %v is worse than irtt's %v", 100*q, ours.at(q), irtt.at(q))
		}
	}
	if ours.rate < .995 {
		t.Errorf("ours reached %.2f %% of the rate, want 99.5 %%", 100*ours.rate)
	}
	if path.at(.5) >= fping.at(0) {
		t.Errorf("the path alone takes %v at p50, fping says %v on average", path.at(.5), fping.at(0))
	}
}

func µs(d time.Duration) string { return strconv.FormatFloat(float64(d)/1e3, 'f', 1, 64) }

func sortedKeys(m map[string][]measured) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// medianOf takes the median over rounds of each number.
func medianOf(rounds []measured) *measured {
	of := func(f func(*measured) float64) float64 {
		var all []float64
		for i := range rounds {
			all = append(all, f(&rounds[i]))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	m := &measured{quantiles: map[float64]time.Duration{}}
	for _, q := range []float64{0, .5, .99, .999} {
		m.quantiles[q] = time.Duration(of(func(r *measured) float64 { return float64(r.at(q)) }))
	}
	m.cpu = time.Duration(of(func(r *measured) float64 { return float64(r.cpu) }))
	m.rate = of(func(r *measured) float64 { return r.rate })
	return m
}

// peersOf starts the servers and returns what measures with each of the tools.
func peersOf(t *testing.T, lab *netlab.Pair, length time.Duration) []func() map[string]measured {
	t.Helper()
	at := lab.Server.Addr.String()
	tickmark := filepath.Join(t.TempDir(), "tickmark")
	if out, err := exec.Command("go", "build", "-o", tickmark, "../cmd/tickmark").CombinedOutput(); err != nil {
		t.Skipf("needs the go command to build tickmark: %v: %.200s", err, out)
	}
	lab.Server.Start(t, tickmark, "serve", "--udp", at+":9900")
	lab.Server.Start(t, "irtt", "server", "-i", "1ms", "-b", at+":2112")
	lab.Server.Start(t, "sockperf", "server", "-i", at, "-p", "11111")
	time.Sleep(time.Second)
	probe := func(stamps string) map[string]measured {
		path := filepath.Join(t.TempDir(), stamps+".trace")
		_, cpu := timed(t, lab, length, tickmark, "probe", "udp:stamps="+stamps, at+":9900", "--interval", "1ms", "--duration", length.String(), "-o", path)
		return ourRound(t, path, stamps, cpu)
	}
	asked := float64(length / time.Millisecond)
	return []func() map[string]measured{
		func() map[string]measured { return probe("user") },
		func() map[string]measured { return probe("kernel") },
		func() map[string]measured {
			out, cpu := timed(t, lab, length, "irtt", "client", "-i", "1ms", "-d", length.String(), "-l", "96", "-Q", "-o", "-", at+":2112")
			return map[string]measured{"irtt": irttRound(t, out, cpu, asked)}
		},
		func() map[string]measured {
			out, cpu := timed(t, lab, length, "sh", "-c", fmt.Sprintf("exec %s -p 1 -i 1 -b 68 -C %.0f -q %s 2>&1", netlab.Need(t, "fping"), asked, at))
			return map[string]measured{"fping": fpingRound(t, out, cpu, asked)}
		},
		func() map[string]measured {
			out, cpu := timed(t, lab, length, "sockperf", "under-load", "-i", at, "-p", "11111", "--mps", "1000", "-t", strconv.Itoa(int(length.Seconds())), "-m", "96", "--reply-every", "1", "--full-rtt")
			return map[string]measured{"sockperf": sockperfRound(t, out, cpu)}
		},
	}
}

func timed(t *testing.T, lab *netlab.Pair, length time.Duration, command string, args ...string) (string, time.Duration) {
	t.Helper()
	out, cpu, err := lab.Client.Timed(t, 2*length+30*time.Second, command, args...)
	if err != nil {
		t.Fatalf("%s: %v\n%.500s", command, err, out)
	}
	return out, cpu
}

// ourRound reads a trace of ours: what a user of the socket sees, from sending, and with
// kernel stamps also what the kernel sees and that without the time at the server.
func ourRound(t *testing.T, path, stamps string, cpu time.Duration) map[string]measured {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := datasets.NewReader(path, f)
	if err != nil {
		t.Fatal(err)
	}
	var user, kernel, alone []time.Duration
	var s datasets.Sample
	var n int
	for n = 0; rows.Next(&s); n++ {
		if !s.Outcome.Answered() {
			continue
		}
		user = append(user, s.Elapsed)
		var t1, t2, t4, server, queued int64
		if _, err := fmt.Sscan(s.Extra, &t1, &t2, &t4, &server, &queued); err == nil {
			kernel = append(kernel, time.Duration(t4-t1))
			alone = append(alone, time.Duration(t4-t1-server-queued))
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	var reached float64
	if _, err := fmt.Sscanf(rows.Header().Text(datasets.KeyRate), "%g/s", &reached); err != nil {
		t.Fatal(err)
	}
	rate := reached / 1000 * float64(len(user)) / float64(n)
	m := map[string]measured{"tickmark, " + stamps + " stamps": {latencies: user, rate: rate, cpu: cpu}}
	if len(kernel) > 0 {
		m = map[string]measured{
			"tickmark, kernel stamps": {latencies: kernel, rate: rate, cpu: cpu},
			"tickmark, path alone":    {latencies: alone, rate: rate, cpu: cpu},
		}
	}
	return m
}

// irttRound reads irtt's JSON (irtt 0.9: round_trips[].delay.rtt in nanoseconds).
func irttRound(t *testing.T, out string, cpu time.Duration, asked float64) measured {
	t.Helper()
	var doc struct {
		RoundTrips []struct {
			Delay struct {
				RTT time.Duration `json:"rtt"`
			} `json:"delay"`
		} `json:"round_trips"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("irtt: %v: %.300s", err, out)
	}
	var all []time.Duration
	for _, r := range doc.RoundTrips {
		if r.Delay.RTT > 0 {
			all = append(all, r.Delay.RTT)
		}
	}
	return measured{latencies: all, rate: float64(len(all)) / asked, cpu: cpu}
}

// fpingRound reads what fping -C prints: milliseconds of each, - for a lost one. Its
// quantile 0 is the average, which is what fping says without -C.
func fpingRound(t *testing.T, out string, cpu time.Duration, asked float64) measured {
	t.Helper()
	_, list, _ := strings.Cut(out, " : ")
	var all []time.Duration
	var sum time.Duration
	for _, text := range strings.Fields(list) {
		ms, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		d := time.Duration(ms * 1e6)
		all, sum = append(all, d), sum+d
	}
	if len(all) == 0 {
		t.Fatalf("fping: %.300s", out)
	}
	slices.Sort(all)
	average := sum / time.Duration(len(all))
	return measured{latencies: all, quantiles: map[float64]time.Duration{0: average}, rate: float64(len(all)) / asked, cpu: cpu}
}

func sockperfRound(t *testing.T, out string, cpu time.Duration) measured {
	t.Helper()
	m := measured{quantiles: map[float64]time.Duration{}, cpu: cpu}
	for _, line := range regexp.MustCompile(`percentile ([0-9.]+) = +([0-9.]+)`).FindAllStringSubmatch(out, -1) {
		q, _ := strconv.ParseFloat(line[1], 64)
		us, _ := strconv.ParseFloat(line[2], 64)
		m.quantiles[q/100] = time.Duration(us * 1e3)
	}
	counts := regexp.MustCompile(`Valid Duration\] RunTime=([0-9.]+) sec; SentMessages=(\d+); ReceivedMessages=(\d+)`).FindStringSubmatch(out)
	if counts == nil || len(m.quantiles) == 0 {
		t.Fatalf("sockperf: %.500s", out)
	}
	seconds, _ := strconv.ParseFloat(counts[1], 64)
	received, _ := strconv.ParseFloat(counts[3], 64)
	m.rate = received / (1000 * seconds)
	return m
}
