package daemon

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// What sptp answered in the laboratory to a GET of /, with its second grandmaster added.
const sptpAnswer = `[
 {"gm_address":"10.77.0.1","clock_quality":{"clock_class":6,"clock_accuracy":33,"offset_scaled_log_variance":23008},"error":"",
  "gm_present":1,"ingress_time":1796071207113916479,"mean_path_delay":2900,"offset":-37000002330.5,"port_identity":"8ee8ce.fffe.c0bfa8-1",
  "priority1":128,"priority2":128,"priority3":1,"selected":true,"steps_removed":1,"cf_rx":0,"cf_tx":0,
  "client_server_delay":5200,"server_client_delay":600,"port_change_count":0,"servo_state":2},
 {"gm_address":"10.77.0.9","error":"deadline exceeded","gm_present":0,"offset":0,"selected":false}
]`

func newFakeSptp(t *testing.T, handle http.HandlerFunc) Daemon {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	d, err := newSptp(strings.TrimPrefix(server.URL, "http://"))
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

func TestSptpOverTheWire(t *testing.T) {
	r, err := ask(t, newFakeSptp(t, says(sptpAnswer)))
	check(t, err)
	if len(r.Claims) != 3 {
		t.Fatalf("%v", r.Claims)
	}
	main, first, second := r.Claims[0], r.Claims[1], r.Claims[2]
	for _, c := range []struct {
		got    *datasets.Claim
		source string
		status datasets.ClaimStatus
		offset any
		why    string
	}{
		// −37.0000023305 s: 37 s behind a master of TAI's time, and 2.33 µs.
		{main, "sptp", datasets.Synchronised, 37_000_002_330 * time.Nanosecond, "the offset looks like TAI against UTC"},
		{first, "sptp 10.77.0.1", datasets.Selected, 37_000_002_330 * time.Nanosecond, "the offset looks like TAI against UTC"},
		{second, "sptp 10.77.0.9", datasets.Unreachable, nil, "it says: deadline exceeded"},
	} {
		if c.got.Source != c.source || c.got.Status != c.status || c.got.Why != c.why {
			t.Errorf("%s %s, %q: want %s %s, %q", c.got.Source, c.got.Status, c.got.Why, c.source, c.status, c.why)
		}
		if c.offset == nil {
			checkCell(t, c.source, c.got.Offset, nil)
		} else if v, _ := c.got.Offset.Value(); (v - c.offset.(time.Duration)).Abs() > time.Nanosecond {
			t.Errorf("%s: offset %v, want %v", c.source, v, c.offset)
		}
		checkCell(t, c.source+": bound", c.got.Bound, nil)
	}
	checkFacts(t, first, map[string]string{"mean_path_delay": "2900", "client_server_delay": "5200", "ingress_time": "1796071207113916479", "selected": "true"})
}

func TestSptpStatuses(t *testing.T) {
	for _, c := range []struct {
		body string
		want datasets.ClaimStatus
	}{
		{`[]`, datasets.Unsynchronised},
		{`[{"gm_address":"a","gm_present":1,"selected":true,"servo_state":0}]`, datasets.FreeRunning},
		{`[{"gm_address":"a","gm_present":1,"selected":true,"servo_state":2}]`, datasets.Synchronised},
		{`[{"gm_address":"a","gm_present":1,"selected":true,"servo_state":4}]`, datasets.Holdover},
		{`[{"gm_address":"a","gm_present":0,"selected":true,"servo_state":2}]`, datasets.Holdover},
		{`[{"gm_address":"a","gm_present":1,"selected":false,"servo_state":2}]`, datasets.Unsynchronised},
	} {
		r, err := ask(t, newFakeSptp(t, says(c.body)))
		check(t, err)
		if r.Claims[0].Status != c.want {
			t.Errorf("%s: %s, want %s", c.body, r.Claims[0].Status, c.want)
		}
	}
}

func TestSptpThatIsNone(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
		want   string
	}{
		{"another server", says("<html>"), "not the JSON of sptp"},
		{"an object", says(`{"a":1}`), "not the JSON of sptp"},
		{"other objects", says(`[{"a":1}]`), "a grandmaster without an address"},
		{"other types", says(`[{"gm_address":"a","offset":"far"}]`), "not the JSON of sptp"},
		{"not found", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "it answers 404 Not Found"},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		}, "it answers 302 Found"},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			for range largestStatus/1024 + 2 {
				if _, err := w.Write(make([]byte, 1024)); err != nil {
					return
				}
			}
		}, "an answer of more than 1048576 bytes"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(sptpAnswer[:100]))
		}, "unexpected EOF"},
	} {
		r, err := ask(t, newFakeSptp(t, c.handle))
		if err == nil || !strings.Contains(err.Error(), c.want) || len(r.Claims) > 0 {
			t.Errorf("%s: %v, %d claims: want %q", c.name, err, len(r.Claims), c.want)
		}
	}
}

// Slow in its head or in its body, it costs the time it was given.
func TestSptpThatIsSlow(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a byte at a time": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				w.(http.Flusher).Flush()
				runtime.Gosched()
			}
		},
	} {
		_, err := askWithin(t, newFakeSptp(t, handle), 50*time.Millisecond)
		if err == nil || (name == "silent" && err.Error() != errSilent.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSptpThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	place := l.Addr().String()
	check(t, l.Close())
	d, err := newSptp(place)
	check(t, err)
	if err := d.Ask(context.Background(), reading()); err == nil || err.Error() != "nothing listens there" {
		t.Errorf("got %v", err)
	}
}

// FuzzSptp: what is read as sptp's makes claims that a trace can hold.
func FuzzSptp(f *testing.F) {
	f.Add([]byte(sptpAnswer))
	f.Add([]byte(`[{"gm_address":"a b\u0000","offset":1e308,"gm_present":1,"error":"x\ny"}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		masters, err := decodeSptp(body)
		if err != nil {
			return
		}
		for _, m := range masters {
			if m.Address == "" {
				t.Error("nobody's")
			}
			c := datasets.Claim{Source: "sptp " + m.Address, Status: m.status()}
			m.fill(&c)
			checkClaim(t, &c)
		}
	})
}
