package probes_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
	"github.com/tickmark/tickmark/probes/serve"
)

// tcpEcho serves the TCP echo until the test ends.
func tcpEcho(t *testing.T, addr string) *serve.Server {
	t.Helper()
	s, err := serve.Start(serve.Config{TCP: addr})
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		t.Skipf("this host has no %s", addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// cell is the content of a column of the probe's own.
func cell(t *testing.T, tr trace[datasets.Sample], row int, column string) string {
	t.Helper()
	cells := strings.Split(tr.rows[row].Extra, "\t")
	for i, name := range tr.Extra {
		if name == column && len(cells) == len(tr.Extra) {
			return cells[i]
		}
	}
	t.Fatalf("no column %q in %q, cells %q", column, tr.Extra, cells)
	return ""
}

// nanos is a cell that must hold a positive time.
func nanos(t *testing.T, tr trace[datasets.Sample], row int, column string) time.Duration {
	t.Helper()
	n, err := strconv.ParseInt(cell(t, tr, row, column), 10, 64)
	if err != nil || n <= 0 {
		t.Fatalf("row %d: %s %q", row, column, cell(t, tr, row, column))
	}
	return time.Duration(n)
}

// The kernel's time lies below the application's, which contains it; on Linux it is there.
func TestTCPBesideTheKernel(t *testing.T) {
	for _, addr := range []string{loopback, "[::1]:0"} {
		for _, spec := range []string{"tcp", "tcp:mode=request,size=1000"} {
			t.Run(addr+" "+spec, func(t *testing.T) {
				s := tcpEcho(t, addr)
				tr := measure[datasets.Sample](t, spec, s.TCPAddr().String(), every(5*time.Millisecond, 40))
				wantSamples(t, tr, 40)
				if got := outcomes(tr); got != "40 replied" {
					t.Fatal(got)
				}
				for i, s := range tr.rows {
					if cell(t, tr, i, "tcp_rtt_ns") == "-" {
						continue
					}
					if rtt := nanos(t, tr, i, "tcp_min_rtt_ns"); rtt > nanos(t, tr, i, "tcp_rtt_ns")*2 || cell(t, tr, i, "tcp_retransmits") == "-" {
						t.Errorf("%+v", s)
					}
				}
				conns := s.Stats().TCP.Connections
				if spec == "tcp" {
					return
				}
				// A line is idle when the next call is due, unless this machine was busy.
				var connects int64
				for i, s := range tr.rows {
					if cell(t, tr, i, "connect_ns") == "-" {
						continue
					}
					connects++
					if latency, _ := s.Latency(); nanos(t, tr, i, "connect_ns") > latency {
						t.Errorf("%+v", s)
					}
				}
				if connects != conns || connects > 20 || s.Stats().TCP.Bytes%1000 != 0 || tr.rows[0].Size != 1000 {
					t.Errorf("%d calls connected, the server accepted %d; size %d", connects, conns, tr.rows[0].Size)
				}
			})
		}
	}
}

// The server dies and comes back at the same port: calls are refused meanwhile and
// answered again after, by a new connection.
func TestTCPRecovers(t *testing.T) {
	for _, spec := range []string{"tcp", "tcp:mode=request"} {
		t.Run(spec, func(t *testing.T) {
			s := tcpEcho(t, loopback)
			at := s.TCPAddr().String()
			recovers(t, spec, at, func() { s.Close() }, func() { s = tcpEcho(t, at) })
		})
	}
}

// recovers records until a second after the server that was killed is back.
func recovers(t *testing.T, spec, target string, kill, start func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rec := &recording{onRow: func(rows int64) error {
		if rows == 20 {
			kill()
			time.Sleep(300 * time.Millisecond) // while calls are made
			start()
			time.AfterFunc(time.Second, cancel)
		}
		return nil
	}}
	plan := listening(probes.Plan{Interval: 20 * time.Millisecond}, patience)
	if err := parse(t, spec).Run(ctx, target, plan, rec); err != nil {
		t.Fatal(err)
	}
	wantRecovery(t, read[datasets.Sample](t, rec))
}

// wantRecovery holds that a recording began and ended with replies, between which calls
// were refused, and nothing else.
func wantRecovery(t *testing.T, tr trace[datasets.Sample]) {
	t.Helper()
	n := len(tr.rows)
	wantSamples(t, tr, n)
	got := outcomes(tr)
	first, last := tr.rows[0].Outcome, tr.rows[n-1].Outcome
	refused := 0
	for i, s := range tr.rows {
		switch s.Outcome {
		case datasets.Refused:
			if refused++; cell(t, tr, i, "why") == "-" {
				t.Errorf("row %d is refused without a reason", i)
			}
		case datasets.Replied, datasets.Late:
		default:
			t.Errorf("row %d: %s: %s", i, s.Outcome, cell(t, tr, i, "why"))
		}
	}
	if first != datasets.Replied || last != datasets.Replied || refused == 0 {
		t.Errorf("%s; first %s, last %s", got, first, last)
	}
}

// handling serves every connection by a function, until the test ends.
func handling(t *testing.T, handle func(conn net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// hostile answers each request, which ends with the byte last, by a function of it.
func hostile(t *testing.T, size int, answer func(conn net.Conn, request []byte)) string {
	t.Helper()
	return handling(t, func(conn net.Conn) {
		for {
			request := make([]byte, size)
			for got := 0; got < size; {
				n, err := conn.Read(request[got:])
				if err != nil {
					return
				}
				got += n
			}
			answer(conn, request)
		}
	})
}

func TestTCPHostileEchoes(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(conn net.Conn, request []byte)
		want   datasets.Outcome
		why    string
	}{
		"in pieces": {func(conn net.Conn, b []byte) {
			for i := range b {
				_, _ = conn.Write(b[i : i+1])
			}
		}, datasets.Replied, "-"},
		"another's": {func(conn net.Conn, b []byte) {
			b[len(b)-1]++
			_, _ = conn.Write(b)
		}, datasets.Invalid, "not what was sent"},
		"the call before":  {func(conn net.Conn, b []byte) { b[7]--; _, _ = conn.Write(b) }, datasets.Invalid, "not what was sent"},
		"half, and closed": {func(conn net.Conn, b []byte) { _, _ = conn.Write(b[:10]); conn.Close() }, datasets.Refused, "closed the connection"},
		"reset": {func(conn net.Conn, _ []byte) {
			_ = conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}, datasets.Refused, "reset"},
		"silence": {func(net.Conn, []byte) {}, datasets.TimedOut, "timeout"},
		"more":    {func(conn net.Conn, b []byte) { _, _ = conn.Write(append(b, b...)) }, datasets.Replied, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listen := patience
			if tt.want == datasets.TimedOut {
				listen = 2 * time.Second
			}
			tr := measure[datasets.Sample](t, "tcp:mode=request", hostile(t, 64, tt.answer), listening(probes.Plan{Interval: 10 * time.Millisecond, Count: 5}, listen))
			wantSamples(t, tr, 5)
			for i, s := range tr.rows {
				if s.Outcome != tt.want || !strings.Contains(cell(t, tr, i, "why"), tt.why) {
					t.Errorf("%s: %s; want %s", s.Outcome, s.Extra, tt.want)
				}
			}
		})
	}
}

// A file is sent as it is, and the response ends with a line or a number of bytes.
func TestTCPSendsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "request")
	if err := os.WriteFile(file, []byte("TIME?\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := handling(t, func(conn net.Conn) {
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			if lines.Text() != "TIME?" {
				_, _ = conn.Write([]byte("?\n"))
				return
			}
			_, _ = conn.Write([]byte("12:"))
			_, _ = conn.Write([]byte("00:00\n"))
		}
	})
	for _, until := range []string{"newline", "bytes:9"} {
		tr := measure[datasets.Sample](t, "tcp:mode=request,until="+until+",send="+strconv.Quote(file), at, every(5*time.Millisecond, 10))
		wantSamples(t, tr, 10)
		if got := outcomes(tr); got != "10 replied" || tr.rows[0].Size != 6 {
			t.Errorf("until %s: %s, %d bytes", until, got, tr.rows[0].Size)
		}
	}
	tr := measure[datasets.Sample](t, "tcp:mode=request,send="+strconv.Quote(file), at, listening(probes.Plan{Count: 1}, patience))
	if got := outcomes(tr); got != "1 invalid" {
		t.Errorf("an echo that is none: %s", got)
	}
	err := parse(t, "tcp:mode=request,send=/nowhere/at/all").Run(t.Context(), at, probes.Plan{Count: 1}, &recording{})
	if err == nil || !strings.Contains(err.Error(), "/nowhere/at/all") {
		t.Errorf("%v", err)
	}
}

func TestTCPRefusesOptions(t *testing.T) {
	for _, spec := range []string{
		"tcp:mode=x", "tcp:size=15", "tcp:size=65537", "tcp:until=newline", "tcp:until=bytes:0,send=x",
		"tcp:until=bytes:1e3,send=x", "tcp:until=end,send=x", "tcp:inflight=0",
	} {
		if _, _, err := probes.Probes().Parse("probe", spec); err == nil || bytes.ContainsRune([]byte(err.Error()), '\n') {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
