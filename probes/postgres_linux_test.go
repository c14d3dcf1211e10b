package probes_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

// postgresServer runs Debian's PostgreSQL on a cluster of its own, as nobody if the test
// is run by root, whom it does not serve.
func postgresServer(t *testing.T) (s *realServer, port string) {
	t.Helper()
	binaries := postgresBinaries(t)
	dir, err := os.MkdirTemp("", "tmpg") //nolint:usetesting // nobody must reach it, and cannot below tb.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var as *syscall.Credential
	if os.Geteuid() == 0 {
		const nobody = 65534
		as = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte("open sesame\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(t.Context(), filepath.Join(binaries, "initdb"), "-D", data, "-U", "postgres", "--no-locale", "-E", "UTF8",
		"--no-sync", "--auth-local=reject", "--auth-host=scram-sha-256", "--pwfile="+password)
	initdb.Dir = "/"
	initdb.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Skipf("initdb: %v: %s", err, out)
	}
	port = freePort(t)
	return serveReal(t, as, accepts("127.0.0.1:"+port), filepath.Join(binaries, "postgres"), "-D", data, "-p", port,
		"-c", "listen_addresses=127.0.0.1,::1", "-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "max_connections=20"), port
}

// postgresBinaries is the folder of the latest PostgreSQL that is there, installed or
// unpacked by make need.
func postgresBinaries(t *testing.T) string {
	t.Helper()
	const below = "lib/postgresql/*/bin/postgres"
	for _, root := range []string{"../bin/tools/usr", "/usr"} {
		if all, _ := filepath.Glob(filepath.Join(root, below)); len(all) > 0 {
			dir, err := filepath.Abs(filepath.Dir(all[len(all)-1]))
			if err != nil {
				t.Fatal(err)
			}
			return dir
		}
	}
	t.Skip("needs a PostgreSQL server (postgres), which is not there")
	return ""
}

func TestPostgres(t *testing.T) {
	s, port := postgresServer(t)
	t.Setenv("PGPASSWORD", "open sesame")
	t.Setenv("PGHOST", "192.0.2.1") // not believed, as the target says another
	t.Setenv("PGDATABASE", "nowhere")
	wrong := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(wrong, []byte("open barley\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ spec, why string }{
		{"postgres", "-"},
		{"postgres:mode=connect", "-"},
		{`postgres:query="select pg_sleep(0.001); select 'a,b'"`, "-"},
		{"postgres:query=select 1/0", "22012 division by zero"}, // SQLSTATE: PostgreSQL, appendix A
		{"postgres:database=nowhere", "3D000"},
		{"postgres:mode=connect,user=o'nobody", "28P01"},
		{"postgres:password=" + strconv.Quote(wrong), "28P01"},
	} {
		for _, host := range []string{"127.0.0.1", "::1"} {
			tr := measure[datasets.Sample](t, tt.spec, net.JoinHostPort(host, port), every(20*time.Millisecond, 10))
			wantSamples(t, tr, 10)
			if got := outcomes(tr); got != "10 replied" {
				t.Errorf("%s at %s: %s", tt.spec, host, got)
			}
			for i, s := range tr.rows {
				if why := cell(t, tr, i, "why"); !strings.HasPrefix(why, tt.why) || s.Size < 10 {
					t.Errorf("%s at %s: %d bytes, %s", tt.spec, host, s.Size, s.Extra)
				}
			}
		}
	}
	t.Run("recovers", func(t *testing.T) {
		for _, spec := range []string{"postgres", "postgres:mode=connect"} {
			recovers(t, spec, "127.0.0.1:"+port, s.kill, s.start)
		}
	})
}

// A query that takes too long is given up, and those behind it are answered.
func TestPostgresTimesOut(t *testing.T) {
	_, port := postgresServer(t)
	t.Setenv("PGPASSWORD", "open sesame")
	tr := measure[datasets.Sample](t, "postgres:query=select pg_sleep(30)", "127.0.0.1:"+port, listening(probes.Plan{Interval: 50 * time.Millisecond, Count: 5}, 2*time.Second))
	wantSamples(t, tr, 5)
	if got := outcomes(tr); got != "5 timed-out" {
		t.Error(got)
	}
}

// A server that is not PostgreSQL, or lies.
func TestPostgresHostile(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		want   datasets.Outcome
	}{
		"another protocol": {"HTTP/1.1 400 Bad Request\r\n\r\n", datasets.Invalid},
		"a huge message":   {"R\x7f\xff\xff\xff\x00\x00\x00\x00", datasets.Invalid},
		"a negative one":   {"R\x80\x00\x00\x00", datasets.Invalid},
		"nothing":          {"", datasets.Refused},
		"half":             {"R\x00\x00", datasets.Refused},
		"an error":         {"E\x00\x00\x00\x1fSFATAL\x00C57P03\x00Mwait a bit\x00\x00", datasets.Replied},
	} {
		t.Run(name, func(t *testing.T) {
			at := handling(t, func(conn net.Conn) {
				if _, err := conn.Read(make([]byte, 1024)); err == nil {
					_, _ = conn.Write([]byte(tt.answer))
				}
			})
			tr := measure[datasets.Sample](t, "postgres", at, every(10*time.Millisecond, 3))
			for _, s := range tr.rows {
				if s.Outcome != tt.want {
					t.Errorf("%s: %s; want %s", s.Outcome, s.Extra, tt.want)
				}
			}
		})
	}
}

func TestPostgresRefusesOptions(t *testing.T) {
	for _, spec := range []string{"postgres:mode=x", "postgres:query=", "postgres:sslmode=prefer"} {
		if _, _, err := probes.Probes().Parse("probe", spec); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
