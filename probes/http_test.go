package probes_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

var httpStages = []string{"dns_ns", "connect_ns", "tls_ns", "request_ns", "wait_ns", "body_ns"}

// wantStages holds that the stages of each answered call add up to it, to the nanosecond,
// and that those of connecting are there if it connected.
func wantStages(t *testing.T, tr trace[datasets.Sample], secure bool) (fresh int) {
	t.Helper()
	for i, s := range tr.rows {
		if !s.Outcome.Answered() {
			continue
		}
		var sum time.Duration
		for _, stage := range httpStages {
			if text := cell(t, tr, i, stage); text != "-" {
				n, err := strconv.ParseInt(text, 10, 64)
				if err != nil || n < 0 {
					t.Fatalf("row %d: %s %q", i, stage, text)
				}
				sum += time.Duration(n)
			}
		}
		reused := cell(t, tr, i, "reused") == "1"
		if !reused {
			fresh++
		}
		if sum != s.Elapsed || reused != (cell(t, tr, i, "connect_ns") == "-") || (!reused && secure) != (cell(t, tr, i, "tls_ns") != "-") {
			t.Errorf("row %d: stages add up to %v, elapsed %v: %s", i, sum, s.Elapsed, s.Extra)
		}
		nanos(t, tr, i, "request_ns")
	}
	return fresh
}

// median is that of a column of times.
func median(t *testing.T, tr trace[datasets.Sample], column string) time.Duration {
	t.Helper()
	var all []time.Duration
	for i := range tr.rows {
		all = append(all, nanos(t, tr, i, column))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Servers that do not keep to HTTP, or do so in odd ways. Each answers one request, whose
// head it has read, and then says nothing.
func TestHTTPHostile(t *testing.T) {
	const whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	for name, tt := range map[string]struct {
		answer string
		then   func(net.Conn)
		want   datasets.Outcome
		why    string
	}{
		"an answer":            {whole, nil, datasets.Replied, "-"},
		"more than an answer":  {whole + "HTTP/1.1 500 Who asked\r\n\r\n", nil, datasets.Replied, "-"},
		"until it closes":      {"HTTP/1.0 200 OK\r\n\r\nhello", closing, datasets.Replied, "-"},
		"informed before":      {"HTTP/1.1 103 Early Hints\r\n\r\n" + whole, nil, datasets.Replied, "-"},
		"closed":               {"", closing, datasets.Refused, "closed the connection"},
		"half, and closed":     {whole[:len(whole)-2], closing, datasets.Refused, "closed the connection"},
		"reset":                {"", resetting, datasets.Refused, "reset"},
		"not HTTP":             {"220 mail.test ESMTP\r\n", nil, datasets.Invalid, "malformed"},
		"no status":            {"HTTP/1.1 abc OK\r\n\r\n", nil, datasets.Invalid, "malformed"},
		"two lengths":          {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", nil, datasets.Invalid, "Content-Length"},
		"chunks of no length":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", nil, datasets.Invalid, "chunk"},
		"silence":              {"", nil, datasets.TimedOut, "deadline"},
		"silence in the midst": {whole[:len(whole)-2], nil, datasets.TimedOut, "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := handling(t, func(conn net.Conn) {
				for in := bufio.NewReader(conn); ; {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					r.Body.Close()
					_, _ = io.WriteString(conn, tt.answer)
					if tt.then != nil {
						tt.then(conn)
						return
					}
				}
			})
			listen := patience
			if tt.want == datasets.TimedOut {
				listen = 2 * time.Second
			}
			tr := measure[datasets.Sample](t, "http", "http://"+at+"/", listening(probes.Plan{Interval: 20 * time.Millisecond, Count: 4}, listen))
			wantSamples(t, tr, 4)
			wantStages(t, tr, false)
			for i, s := range tr.rows {
				if s.Outcome != tt.want || !strings.Contains(cell(t, tr, i, "why"), tt.why) {
					t.Errorf("%s: %s; want %s", s.Outcome, s.Extra, tt.want)
				}
			}
		})
	}
}

func closing(conn net.Conn) { conn.Close() }

func resetting(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// HTTP/2 that was asked for is not given up, and a server that knows none is told so.
func TestHTTPVersionIsKeptTo(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler) // of HTTP/1.1
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	both := httptest.NewUnstartedServer(handler)
	both.EnableHTTP2 = true
	both.StartTLS()
	t.Cleanup(both.Close)
	for _, tt := range []struct {
		options, url string
		want         datasets.Outcome
		protocol     string
	}{
		{"version=2", plain.URL, datasets.Invalid, "-"},
		{"version=2,insecure", secure.URL, datasets.Invalid, "-"},
		{"insecure", secure.URL, datasets.Replied, "HTTP/1.1"},
		{"insecure", both.URL, datasets.Replied, "HTTP/2.0"},
		{"version=1.1,insecure", both.URL, datasets.Replied, "HTTP/1.1"},
		{"version=2,insecure", both.URL, datasets.Replied, "HTTP/2.0"},
		{"version=auto", both.URL, datasets.Invalid, "-"}, // its certificate is nobody's
		{"insecure,name=elsewhere.test", both.URL, datasets.Replied, "HTTP/2.0"},
	} {
		tr := measure[datasets.Sample](t, "http:"+tt.options, tt.url, every(20*time.Millisecond, 3))
		for i, s := range tr.rows {
			if s.Outcome != tt.want || cell(t, tr, i, "protocol") != tt.protocol || (cell(t, tr, i, "why") == "-") != (tt.want == datasets.Replied) {
				t.Errorf("%s: %s: %s", tt.options, s.Outcome, s.Extra)
			}
		}
	}
}

// A server may close a connection whenever it likes between two calls: none fails by it.
func TestHTTPServerHangsUpBetweenCalls(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	s.Config.IdleTimeout = 20 * time.Millisecond
	s.Start()
	t.Cleanup(s.Close)
	tr := measure[datasets.Sample](t, "http", s.URL, every(200*time.Millisecond, 8))
	if fresh := wantStages(t, tr, false); outcomes(tr) != "8 replied" || fresh != 8 {
		t.Errorf("%s, %d connections", outcomes(tr), fresh)
	}
}

func TestHTTPRefusesOptions(t *testing.T) {
	for _, spec := range []string{
		"http:method=G T", "http:method=", "http:method=CONNECT", "http:version=3", "http:status=2", "http:status=2x", "http:status=700",
		"http:status=xxx", "http:dns=never", "http:keepalive=perhaps", "http:inflight=0", "tls:resume=2", "tls:dns=x",
		"grpc:method=Check", "grpc:method=/a/b,service=x", "grpc:body=x", "grpc:ca=x", "grpc:insecure", `grpc:service="\xff"`,
	} {
		if _, _, err := probes.Probes().Parse("probe", spec); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	for spec, target := range map[string]string{
		"http":                      "192.0.2.1",
		"http:method=GET":           "ftp://192.0.2.1/",
		"http:method=PUT":           "http:///",
		"http:status=200":           "http://ali:sesame@192.0.2.1/",
		"http:status=201":           "http://ali:sesame@192.0.2.1:x/",
		"http:headers=/nowhere":     "http://127.0.0.1/",
		"http:body=/nowhere":        "http://127.0.0.1/",
		"http:ca=/nowhere":          "https://127.0.0.1/",
		"tls:ca=/nowhere":           "127.0.0.1",
		"tls":                       "127.0.0.1:x",
		"grpc:headers=/nowhere":     "127.0.0.1",
		"grpc:method=/a/b,body=/no": "127.0.0.1",
	} {
		err := parse(t, spec).Run(t.Context(), target, probes.Plan{Count: 1}, &recording{})
		if err == nil || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s of %s: %v", spec, target, err)
		}
	}
}
