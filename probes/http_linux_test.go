package probes_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

// nginx's own log says what it was asked, by which version, and on how many connections.
func TestHTTPBesideNginx(t *testing.T) {
	n := startNginx(t, "TLSv1.3")
	for name, tt := range map[string]struct {
		options, url, protocol, logged string
		secure, keeping                bool
	}{
		"1.1":                    {"", "http://127.0.0.1:" + n.plain, "HTTP/1.1", "HTTP/1.1", false, true},
		"1.1, IPv6":              {"", "http://[::1]:" + n.plain, "HTTP/1.1", "HTTP/1.1", false, true},
		"1.1, new connections":   {"keepalive=false", "http://127.0.0.1:" + n.plain, "HTTP/1.1", "HTTP/1.1", false, false},
		"1.1 over TLS":           {"version=1.1,ca=" + n.ca, "https://127.0.0.1:" + n.secure, "HTTP/1.1", "HTTP/1.1", true, true},
		"2 over TLS":             {"ca=" + n.ca, "https://127.0.0.1:" + n.secure, "HTTP/2.0", "HTTP/2.0", true, true},
		"2, new connections":     {"keepalive=false,version=2,ca=" + n.ca, "https://127.0.0.1:" + n.secure, "HTTP/2.0", "HTTP/2.0", true, false},
		"2 by name":              {"name=127.0.0.1,ca=" + n.ca, "https://[::1]:" + n.secure, "HTTP/2.0", "HTTP/2.0", true, true},
		"2 by prior knowledge":   {"version=2", "http://127.0.0.1:" + n.prior, "HTTP/2.0", "HTTP/2.0", false, true},
		"1.1, looked up by each": {"dns=each,keepalive=false", "http://127.0.0.1:" + n.plain, "HTTP/1.1", "HTTP/1.1", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			n.forget(t)
			const count = 30
			spec := strings.TrimSuffix("http:status=200,"+tt.options, ",")
			tr := measure[datasets.Sample](t, spec, tt.url+"/", every(20*time.Millisecond, count))
			wantSamples(t, tr, count)
			if got := outcomes(tr); got != "30 replied" {
				t.Fatalf("%s; first row %s", got, tr.rows[0].Extra)
			}
			fresh := wantStages(t, tr, tt.secure)
			connections := map[string]bool{}
			for _, h := range n.hits(t, count) {
				connections[h.connection] = true
				if h.status != "200" || h.protocol != tt.logged || h.method != "GET" || h.encoding != "-" || h.agent != "tickmark" ||
					(h.keeping == "close") != (!tt.keeping && tt.logged == "HTTP/1.1") {
					t.Errorf("nginx was asked: %+v", h)
				}
			}
			for i := range tr.rows {
				if p, b := cell(t, tr, i, "protocol"), cell(t, tr, i, "body_bytes"); p != tt.protocol || b != "6" {
					t.Fatalf("protocol %s, %s bytes", p, b)
				}
				if each := strings.Contains(tt.options, "dns=each"); each != (cell(t, tr, i, "dns_ns") != "-") {
					t.Fatalf("%s: %s", tt.options, tr.rows[i].Extra)
				}
			}
			if len(connections) != fresh || !tt.keeping && fresh != count || tt.keeping && fresh > count/2 {
				t.Errorf("%d connections by nginx, %d by us", len(connections), fresh)
			}
			if (tr.Text(datasets.KeyAddress) == "") != strings.Contains(tt.options, "dns=each") {
				t.Errorf("address %q", tr.Text(datasets.KeyAddress))
			}
		})
	}
}

// What the server is known to wait is found where it waits, and in nginx's own time.
func TestHTTPDelaysAreWhereTheyWere(t *testing.T) {
	n := startNginx(t, "TLSv1.3")
	for _, url := range []string{"http://127.0.0.1:" + n.plain, "https://127.0.0.1:" + n.secure} {
		n.forget(t)
		tr := measure[datasets.Sample](t, "http:ca="+n.ca, url+"/slow", every(50*time.Millisecond, 15))
		if got := outcomes(tr); got != "15 replied" {
			t.Fatal(got)
		}
		wantStages(t, tr, strings.HasPrefix(url, "https"))
		var theirs, ours []time.Duration
		for i, h := range n.hits(t, 15) {
			took, err := time.ParseDuration(h.took + "s")
			if err != nil {
				t.Fatal(err)
			}
			theirs = append(theirs, took)
			ours = append(ours, nanos(t, tr, i, "request_ns")+nanos(t, tr, i, "wait_ns")+nanos(t, tr, i, "body_ns"))
		}
		slices.Sort(theirs)
		slices.Sort(ours)
		t.Logf("%s: wait p50 %v, body p50 %v; all of the request p50 %v, by nginx %v", url, median(t, tr, "wait_ns"), median(t, tr, "body_ns"), ours[7], theirs[7])
		for i := range tr.rows {
			if w, b := nanos(t, tr, i, "wait_ns"), nanos(t, tr, i, "body_ns"); w < waits*9/10 || w+b < waits+pause {
				t.Errorf("row %d: waited %v, body %v", i, w, b)
			}
		}
		if (ours[7] - theirs[7]).Abs() > 50*time.Millisecond {
			t.Errorf("%s: p50 %v, by nginx %v", url, ours[7], theirs[7])
		}
	}
}

// When nobody listens any longer, or the recording is stopped, what is in flight is given
// up, by either version of HTTP, and the calls after it go well.
func TestHTTPGivesUp(t *testing.T) {
	n := startNginx(t, "TLSv1.3")
	for _, url := range []string{"http://127.0.0.1:" + n.plain, "https://127.0.0.1:" + n.secure} {
		tr := measure[datasets.Sample](t, "http:insecure", url+"/slow", listening(probes.Plan{Interval: 20 * time.Millisecond, Count: 5}, waits/2))
		wantSamples(t, tr, 5)
		if got := outcomes(tr); got != "5 timed-out" {
			t.Errorf("%s: %s: %s", url, got, tr.rows[0].Extra)
		}
		tr = read[datasets.Sample](t, stoppedBy(t, 3, "http:insecure", url+"/slow", every(20*time.Millisecond, 1000)))
		if got := outcomes(tr); !strings.HasSuffix(got, " replied") || strings.Contains(got, ",") || tr.number(t, datasets.KeyUnfinished) == 0 {
			t.Errorf("%s: %s, %s unfinished", url, got, tr.Text(datasets.KeyUnfinished))
		}
	}
}

func TestHTTPStatus(t *testing.T) {
	n := startNginx(t, "TLSv1.3")
	for _, tt := range []struct {
		options, path string
		status        int
		want          datasets.Outcome
		why           string
	}{
		{"", "/503", 503, datasets.Replied, "-"},
		{"status=5xx", "/503", 503, datasets.Replied, "-"},
		{"status=503", "/503", 503, datasets.Replied, "-"},
		{"status=200", "/503", 503, datasets.Invalid, "status 503: want 200"},
		{"status=2xx", "/503", 503, datasets.Invalid, "status 503: want 2xx"},
		{"status=2xx", "/", 200, datasets.Replied, "-"},
		{"", "/moved", 302, datasets.Replied, "-"}, // and not followed
		{"method=HEAD", "/", 200, datasets.Replied, "-"},
	} {
		n.forget(t)
		tr := measure[datasets.Sample](t, strings.TrimSuffix("http:"+tt.options, ":"), "http://127.0.0.1:"+n.plain+tt.path, every(20*time.Millisecond, 5))
		for i, s := range tr.rows {
			if status, _ := s.Status.Value(); s.Outcome != tt.want || status != tt.status || cell(t, tr, i, "why") != tt.why {
				t.Errorf("%s %s: %s, status %d, why %q", tt.options, tt.path, s.Outcome, status, cell(t, tr, i, "why"))
			}
		}
		n.hits(t, 5)
	}
}

// What is to be sent comes from files, and what is secret in them reaches the server and
// nothing else.
func TestHTTPSendsFiles(t *testing.T) {
	n := startNginx(t, "TLSv1.3")
	dir := t.TempDir()
	body, headers := filepath.Join(dir, "body"), filepath.Join(dir, "headers")
	for path, text := range map[string]string{
		body:    strings.Repeat("x", 5000),
		headers: "# mine\nAuthorization: Bearer open-sesame\n\nHost: shop.test\nUser-Agent: ali\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, url := range []string{"http://127.0.0.1:" + n.plain, "https://127.0.0.1:" + n.secure} {
		n.forget(t)
		rec := &recording{}
		err := parse(t, "http:insecure=true,method=POST,body="+body+",headers="+headers).Run(t.Context(), url+"/slow", every(20*time.Millisecond, 3), rec)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(rec.file.Bytes(), []byte("sesame")) {
			t.Errorf("the trace shows what is secret: %s", rec.file.Bytes())
		}
		for _, s := range read[datasets.Sample](t, rec).rows {
			if s.Outcome != datasets.Replied || s.Size != 5000 {
				t.Errorf("%+v", s)
			}
		}
		for _, h := range n.hits(t, 3) {
			length, _ := strconv.Atoi(h.length)
			if h.method != "POST" || length < 5000 || h.authorization != "Bearer open-sesame" || h.agent != "ali" || h.host != "shop.test" {
				t.Errorf("%+v", h)
			}
		}
	}
}

func TestHTTPRecovers(t *testing.T) {
	n := startNginx(t, "TLSv1.3")
	recovers(t, "http", "http://127.0.0.1:"+n.plain+"/", n.kill, n.start)
	recovers(t, "http:ca="+n.ca, "https://127.0.0.1:"+n.secure+"/", n.kill, n.start)
	recovers(t, "http:keepalive=false", "http://127.0.0.1:"+n.plain+"/", n.kill, n.start)
}

// nameServer is where names are asked for instead of where this host would, if not nil.
var nameServer = func() *atomic.Pointer[string] {
	var at atomic.Pointer[string]
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, usual string) (net.Conn, error) {
		if other := at.Load(); other != nil {
			usual = *other
		}
		return (&net.Dialer{}).DialContext(ctx, network, usual)
	}}
	return &at
}()

// When the name server goes away, calls that look the name up are ours that were lost,
// and say so; when it is back, they are made again.
func TestHTTPNameServerGone(t *testing.T) {
	n := startNginx(t, "TLSv1.3")
	port := freePort(t)
	names := serveReal(t, nil, accepts("127.0.0.1:"+port), "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
		"--pid-file=", "--user=", "--port="+port, "--bind-interfaces", "--listen-address=127.0.0.1", "--address=/web.test/127.0.0.1")
	at := "127.0.0.1:" + port
	nameServer.Store(&at)
	t.Cleanup(func() { nameServer.Store(nil) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rec := &recording{onRow: func(rows int64) error {
		if rows == 10 {
			names.kill()
			time.Sleep(300 * time.Millisecond)
			names.start()
			time.AfterFunc(time.Second, cancel)
		}
		return nil
	}}
	plan := listening(probes.Plan{Interval: 20 * time.Millisecond}, patience)
	if err := parse(t, "http:dns=each,keepalive=false").Run(ctx, "http://web.test:"+n.plain+"/", plan, rec); err != nil {
		t.Fatal(err)
	}
	tr := read[datasets.Sample](t, rec)
	lost := 0
	for i, s := range tr.rows {
		switch why := cell(t, tr, i, "why"); {
		case s.Outcome == datasets.LostLocal && strings.Contains(why, "lookup web.test"):
			lost++
		case s.Outcome != datasets.Replied:
			t.Errorf("row %d: %s: %s", i, s.Outcome, why)
		default:
			nanos(t, tr, i, "dns_ns")
		}
	}
	t.Logf("%s", outcomes(tr))
	if last := tr.rows[len(tr.rows)-1].Outcome; lost == 0 || last != datasets.Replied {
		t.Errorf("%s; last %s", outcomes(tr), last)
	}
	n.hits(t, len(tr.rows)-lost)
}
