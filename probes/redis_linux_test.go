package probes_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

// redisServer runs Debian's Redis without a disk.
func redisServer(t *testing.T, more ...string) (s *realServer, port string) {
	t.Helper()
	port = freePort(t)
	args := append([]string{"redis-server", "--port", port, "--bind", "127.0.0.1", "-::1", "--save", "", "--appendonly", "no"}, more...)
	return serveReal(t, nil, accepts("127.0.0.1:"+port), args...), port
}

func TestRedis(t *testing.T) {
	_, port := redisServer(t)
	for _, host := range []string{"127.0.0.1", "::1"} {
		tr := measure[datasets.Sample](t, "redis", net.JoinHostPort(host, port), every(5*time.Millisecond, 40))
		wantSamples(t, tr, 40)
		if got := outcomes(tr); got != "40 replied" || cell(t, tr, 0, "connect_ns") == "-" || cell(t, tr, 0, "why") != "-" {
			t.Errorf("%s: %s; first row %s", host, got, tr.rows[0].Extra)
		}
	}
}

func TestRedisPassword(t *testing.T) {
	_, port := redisServer(t, "--requirepass", "open,sesame")
	file := func(password string) string {
		path := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return strconv.Quote(path)
	}
	for name, tt := range map[string]struct{ spec, env, why string }{
		"none":            {"redis", "", "NOAUTH"},
		"right":           {"redis:password=" + file("open,sesame"), "", "-"},
		"of the default":  {"redis:user=default,password=" + file("open,sesame"), "", "-"},
		"wrong":           {"redis:password=" + file("x"), "", "WRONGPASS"},
		"of another user": {"redis:user=ali,password=" + file("open,sesame"), "", "WRONGPASS"},
		"environment's":   {"redis", "open,sesame", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("REDISCLI_AUTH", tt.env)
			tr := measure[datasets.Sample](t, tt.spec, "127.0.0.1:"+port, every(5*time.Millisecond, 5))
			if got := outcomes(tr); got != "5 replied" {
				t.Error(got)
			}
			for i := range tr.rows {
				if why := cell(t, tr, i, "why"); !strings.HasPrefix(why, tt.why) {
					t.Errorf("why %q, want %q", why, tt.why)
				}
			}
		})
	}
	err := parse(t, "redis:password=/nowhere").Run(t.Context(), "127.0.0.1:"+port, probes.Plan{Count: 1}, &recording{})
	if err == nil || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("%v", err)
	}
}

func TestRedisRecovers(t *testing.T) {
	s, port := redisServer(t)
	recovers(t, "redis", "127.0.0.1:"+port, s.kill, s.start)
}

// A server that is not Redis, or lies.
func TestRedisHostile(t *testing.T) {
	for answer, want := range map[string]datasets.Outcome{
		"+PONG\r\n":               datasets.Replied,
		"-LOADING wait\r\n":       datasets.Replied,
		"+OK\r\n":                 datasets.Invalid,
		"$4\r\nPONG\r\n":          datasets.Invalid,
		"+PONG\r\n+PONG\r\n":      datasets.Invalid,
		"HTTP/1.1 400 Bad":        datasets.Invalid,
		strings.Repeat("+", 9000): datasets.Invalid,
		"+PON":                    datasets.Refused,
	} {
		at := handling(t, func(conn net.Conn) {
			for b := make([]byte, 64); ; {
				if n, err := conn.Read(b); err != nil || n != len("*1\r\n$4\r\nPING\r\n") {
					return
				}
				_, _ = conn.Write([]byte(answer))
				if want == datasets.Refused {
					return
				}
			}
		})
		tr := measure[datasets.Sample](t, "redis", at, every(5*time.Millisecond, 3))
		for i, s := range tr.rows {
			if why := cell(t, tr, i, "why"); s.Outcome != want || (why == "-") != (answer == "+PONG\r\n") || len(why) > 200 {
				t.Errorf("%.30q: %s, why %q; want %s", answer, s.Outcome, why, want)
			}
		}
	}
}
