package probes_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/probes/netlab"
)

// nginx is Debian's, with what it writes down of those who ask.
type nginx struct {
	*realServer
	dir, ca              string
	plain, secure, prior string // ports: of HTTP/1.1, of TLS with HTTP/2, of HTTP/2 by prior knowledge
}

const nginxConf = `
daemon off;
master_process off;
pid DIR/pid;
error_log DIR/error.log debug;
events { worker_connections 512; }
http {
  log_format witness '$connection $request_time $status $server_protocol $request_method $request_length "$http_authorization" "$http_accept_encoding" "$http_host" "$http_user_agent" "$http_connection"';
  access_log DIR/access.log witness;
  client_body_temp_path DIR/1;
  proxy_temp_path DIR/2;
  fastcgi_temp_path DIR/3;
  uwsgi_temp_path DIR/4;
  scgi_temp_path DIR/5;
  server {
    listen 127.0.0.1:PLAIN;
    listen [::1]:PLAIN;
    listen 127.0.0.1:SECURE ssl http2;
    listen [::1]:SECURE ssl http2;
    listen 127.0.0.1:PRIOR http2;
    ssl_certificate CERT;
    ssl_certificate_key KEY;
    ssl_protocols VERSIONS;
    location = / { return 200 "hello\n"; }
    location = /moved { return 302 /; }
    location = /503 { return 503 "busy\n"; }
    location / { proxy_pass http://UPSTREAM; proxy_buffering off; }
  }
}
`

// The upstream of nginx waits this long before its answer and in the middle of it.
const (
	waits = 150 * time.Millisecond
	pause = 100 * time.Millisecond
)

// startNginx runs nginx in front of a slow server.
func startNginx(t *testing.T, versions string) *nginx {
	t.Helper()
	netlab.Need(t, "nginx")
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(waits)
		_, _ = w.Write([]byte("first half, "))
		w.(http.Flusher).Flush()
		time.Sleep(pause)
		_, _ = w.Write([]byte("second half"))
	}))
	t.Cleanup(slow.Close)
	n := &nginx{dir: t.TempDir(), plain: freePort(t), secure: freePort(t), prior: freePort(t)}
	cert, key := netlab.SelfSigned(t, netip.MustParseAddr("127.0.0.1"))
	n.ca = cert
	conf := strings.NewReplacer("DIR", n.dir, "PLAIN", n.plain, "SECURE", n.secure, "PRIOR", n.prior, "CERT", cert, "KEY", key,
		"VERSIONS", versions, "UPSTREAM", slow.Listener.Addr().String()).Replace(nginxConf)
	path := filepath.Join(n.dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	n.realServer = serveReal(t, nil, accepts("127.0.0.1:"+n.plain), "nginx", "-e", "stderr", "-c", path)
	return n
}

// hit is a line of nginx's own log.
type hit struct {
	connection, took, status, protocol, method string
	length                                     string
	authorization, encoding, host, agent       string
	keeping                                    string
}

// hits returns what nginx was asked, once there are n of them. It writes a line when an
// answer has been sent, which may be a moment after that has come.
func (n *nginx) hits(t *testing.T, want int) (all []hit) {
	t.Helper()
	for limit := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		b, err := os.ReadFile(filepath.Join(n.dir, "access.log"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		if len(lines) < want && time.Now().Before(limit) {
			continue
		}
		if len(lines) != want {
			t.Fatalf("nginx was asked %d times, want %d", len(lines), want)
		}
		for _, line := range lines {
			quoted := strings.Split(line, `"`)
			f := strings.Fields(quoted[0])
			if len(quoted) != 11 || len(f) != 6 {
				t.Fatalf("%q", line)
			}
			all = append(all, hit{f[0], f[1], f[2], f[3], f[4], f[5], quoted[1], quoted[3], quoted[5], quoted[7], quoted[9]})
		}
		return all
	}
}

// forget empties the log.
func (n *nginx) forget(t *testing.T) {
	t.Helper()
	if err := os.Truncate(filepath.Join(n.dir, "access.log"), 0); err != nil {
		t.Fatal(err)
	}
}

// told counts what nginx wrote into the log of its debugging.
func (n *nginx) told(t *testing.T, what string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(n.dir, "error.log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(b), what)
}
