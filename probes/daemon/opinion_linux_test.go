package daemon

import (
	"context"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
)

// words is everything that a claim says, by name: its facts, and its columns in the
// units that other tools print, with a = in front.
func words(c *datasets.Claim) map[string]string {
	all := map[string]string{"=status": string(c.Status)}
	for k, v := range c.AllFacts() {
		all[k] = v
	}
	for name, d := range map[string]datasets.Optional[time.Duration]{
		"=offset": c.Offset, "=bound": c.Bound, "=root_delay": c.RootDelay, "=root_dispersion": c.RootDispersion, "=age": c.Age,
	} {
		if v, ok := d.Value(); ok {
			all[name] = strconv.FormatFloat(v.Seconds(), 'f', 9, 64)
		}
	}
	for name, d := range map[string]datasets.Optional[datasets.PPB]{"=frequency": c.Frequency, "=skew": c.Skew} {
		if v, ok := d.Value(); ok {
			all[name] = strconv.FormatFloat(float64(v)/1e3, 'f', 3, 64)
		}
	}
	for name, d := range map[string]datasets.Optional[int]{"=stratum": c.Stratum, "=leap": c.Leap} {
		if v, ok := d.Value(); ok {
			all[name] = strconv.Itoa(v)
		}
	}
	if c.Reference != "" {
		all["=reference"] = c.Reference
	}
	return all
}

// secondOpinion holds every word of ours, said before and after another tool was asked,
// to what that tool printed. Numbers move: theirs lies between, to its own last digit.
// What is not in theirs must stand in except. It says what differs.
func secondOpinion(before, after, theirs map[string]string, except ...string) []string {
	var differ []string
	for name, a := range before {
		if strings.Contains(" "+strings.Join(except, " ")+" ", " "+name+" ") {
			continue
		}
		want, ok := theirs[name]
		switch b := after[name]; {
		case !ok:
			differ = append(differ, name+": "+a+", and the other tool says nothing of it")
		case !agrees(a, b, want):
			differ = append(differ, name+": "+a+" and then "+b+", the other tool says "+want)
		}
	}
	return differ
}

func agrees(a, b, theirs string) bool {
	if a == theirs || b == theirs {
		return true
	}
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	z, err3 := strconv.ParseFloat(theirs, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return false
	}
	_, decimals, _ := strings.Cut(theirs, ".")
	digit := 0.6 * math.Pow10(-len(decimals))
	return z >= min(x, y)-digit-math.Abs(x)*1e-7 && z <= max(x, y)+digit+math.Abs(y)*1e-7
}

// asked asks a daemon whose sockets must be made inside a namespace.
func asked(t *testing.T, n netlab.Namespace, d Daemon) (*Reading, error) {
	t.Helper()
	r := reading()
	err := n.Do(func() error {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		return d.Ask(ctx, r)
	})
	for _, c := range r.Claims {
		checkClaim(t, c)
	}
	return r, err
}

// named returns the claim of a source.
func named(r *Reading, source string) *datasets.Claim {
	for _, c := range r.Claims {
		if c.Source == source {
			return c
		}
	}
	return &datasets.Claim{Source: source}
}

// chronyc prints one table as CSV.
func chronyc(t *testing.T, socket, command string) [][]string {
	t.Helper()
	out, err := exec.Command(netlab.Need(t, "chronyc"), "-n", "-c", "-h", socket, command).CombinedOutput()
	if err != nil {
		t.Fatalf("chronyc %s: %v: %s", command, err, out)
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSpace(line), ","))
	}
	return rows
}

// chronycWords is what chronyc says of chronyd itself and of each of its sources, in our
// names. Its frequency and the offsets of sources are positive when the clock is fast.
func chronycWords(t *testing.T, socket string) map[string]map[string]string {
	t.Helper()
	sources, stats, data, selection := chronyc(t, socket, "sources"), chronyc(t, socket, "sourcestats"), chronyc(t, socket, "ntpdata"), chronyc(t, socket, "selectdata")
	f := chronyc(t, socket, "tracking")[0]
	all := map[string]map[string]string{"chronyd": {
		"ref_id": f[0], "=reference": f[1], "=stratum": f[2], "ref_time": f[3], "=offset": f[4], "last_offset": f[5], "rms_offset": f[6],
		"=frequency": negated(f[7]), "resid_freq_ppm": f[8], "=skew": f[9], "=root_delay": f[10], "=root_dispersion": f[11],
		"last_update_interval": f[12], "=leap": leapNumber(f[13]), "sources": strconv.Itoa(len(sources)),
		"=bound": strconv.FormatFloat(math.Abs(float(t, f[4]))+float(t, f[11])+float(t, f[10])/2, 'f', 9, 64),
	}}
	for i, s := range sources {
		e, d, x := stats[i], data[i], selection[i]
		all["chronyd "+s[2]] = map[string]string{
			"mode":     map[string]string{"^": "client", "=": "peer", "#": "reference clock"}[s[0]],
			"state":    map[string]string{"*": "sync", "?": "unreach", "x": "falseticker", "~": "jittery", "+": "candidate", "-": "outlier"}[s[1]],
			"=stratum": s[3], "poll": s[4], "reach": s[5], "=age": s[6], "latest_meas": s[7], "orig_latest_meas": s[8], "latest_meas_err": s[9],
			"samples": e[1], "runs": e[2], "span_s": e[3], "resid_freq_ppm": e[4], "=skew": e[5], "est_offset": e[6], "standard_deviation": e[7],
			"remote_port": d[2], "local_address": strings.Trim(d[3], "[]UNSPEC"), "packet_leap": leapNumber(d[5]), "packet_version": d[6],
			"packet_mode": map[string]string{"Server": "4", "Invalid": "0"}[d[7]], "packet_stratum": d[8], "packet_poll": d[9], "packet_precision": d[11],
			"=root_delay": d[13], "=root_dispersion": d[14], "=reference": d[16], "packet_ref_time": d[17], "packet_offset": d[18], "peer_delay": d[19],
			"peer_dispersion": d[20], "response_time": d[21], "jitter_asymmetry": d[22], "ntp_tests": d[23] + d[24] + d[25],
			"interleaved": truth(d[26]), "authenticated": truth(d[27]), "tx_timestamping": stamperName(d[28]), "rx_timestamping": stamperName(d[29]),
			"total_tx": d[30], "total_rx": d[31], "total_valid_rx": d[32],
			"select_state": x[0], "authentication": strconv.Itoa(strings.Index("N", x[2])), "configured_options": optionBits(x[3:8]),
			"effective_options": optionBits(x[8:13]), "last_sample_ago_s": x[13], "score": x[14], "lo_limit": x[15], "hi_limit": x[16],
			"=leap": leapNumber(x[17]),
		}
	}
	return all
}

func float(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	check(t, err)
	return f
}

func negated(text string) string {
	if strings.HasPrefix(text, "-") {
		return text[1:]
	}
	return "-" + text
}

func leapNumber(name string) string {
	return map[string]string{"Normal": "0", "Insert second": "1", "Delete second": "2", "Not synchronised": "3"}[name]
}

func truth(yes string) string { return strconv.FormatBool(yes == "Yes") }

func stamperName(chronycs string) string {
	return map[string]string{"Daemon": "daemon", "Kernel": "kernel", "Hardware": "hardware", "Invalid": "none"}[chronycs]
}

// optionBits reads N P T R of selectdata, in the order of their bits.
func optionBits(letters []string) string {
	bits := 0
	for i, l := range letters[:4] {
		if l != "-" {
			bits |= 1 << i
		}
	}
	return strconv.Itoa(bits)
}

// ntpq prints the variables of one association, in our names; 0 is ntpd itself.
func ntpq(t *testing.T, n netlab.Namespace, association string) map[string]string {
	t.Helper()
	tool := netlab.Need(t, "ntpq")
	modules := filepath.Join(filepath.Dir(tool), "..", "lib", "python3", "dist-packages") // it may be unpacked, not installed
	if found, _ := filepath.Glob(filepath.Join(modules, "../../*/ntp/libntpc.so")); len(found) == 1 {
		_ = os.Symlink(found[0], filepath.Join(modules, "ntp", "libntpc.so"))
	}
	c := exec.Command(netlab.Need(t, "ip"), "netns", "exec", n.Name, tool, "-n", "-c", "raw", "-c", "rv "+association, n.Addr.String())
	c.Env = append(os.Environ(), "PYTHONPATH="+modules)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Skipf("needs ntpq with its Python modules: %v: %s", err, out)
	}
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`(\w+)=\s*("[^"]*"|[^,]*)`).FindAllStringSubmatch(string(out), -1) {
		all[m[1]] = strings.Trim(strings.TrimSpace(m[2]), `"`)
	}
	return all
}

// ntpqAssociations prints their identifiers.
func ntpqAssociations(t *testing.T, n netlab.Namespace) []string {
	t.Helper()
	tool := netlab.Need(t, "ntpq")
	c := exec.Command(netlab.Need(t, "ip"), "netns", "exec", n.Name, tool, "-n", "-c", "as", n.Addr.String())
	c.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(filepath.Dir(tool), "..", "lib", "python3", "dist-packages"))
	out, err := c.CombinedOutput()
	check(t, err)
	var ids []string
	for _, m := range regexp.MustCompile(`(?m)^\s*\d+\s+(\d+)\s`).FindAllStringSubmatch(string(out), -1) {
		ids = append(ids, m[1])
	}
	return ids
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// inside makes a client of HTTP dial in a namespace: it dials on goroutines of its own.
func inside(t *testing.T, n netlab.Namespace, d *sptp) {
	t.Helper()
	d.http.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		err = n.Do(func() error {
			conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
			return err
		})
		return conn, err
	}
}
