package probes

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/serve"
)

// allowStep is set where the wall clock may be set: in the lab's guest, which says so.
const allowStep = "TICKMARK_LAB_STEP"

// answerAfter is how long every server of this test takes, so that something is in flight
// whenever the clock steps.
const answerAfter = 20 * time.Millisecond

// target starts a server for one probe and returns what to give it.
type target func(t *testing.T) string

// stepTargets has a server for every probe whose rows are round trips or exchanges; nil
// for one that the scenario of the lab itself holds, since it takes a NIC.
func stepTargets() map[string]target {
	return map[string]target{
		"ptp": nil, "phc": nil,
		"sim":   nil, // has no clock
		"ntp":   faultily(8*answerAfter, func(c *serve.Config) { c.NTP = "127.0.0.1:0" }, func(s *serve.Server) string { return s.NTPAddr().String() }),
		"udp":   faultily(answerAfter, func(c *serve.Config) { c.UDP = "127.0.0.1:0" }, func(s *serve.Server) string { return s.UDPAddr().String() }),
		"stamp": faultily(answerAfter, func(c *serve.Config) { c.STAMP.Addr = "127.0.0.1:0" }, func(s *serve.Server) string { return s.STAMPAddr().String() }),
		"icmp":  func(*testing.T) string { return "127.0.0.1" },
		"exec":  func(*testing.T) string { return "sleep 0.02" },
		"tcp": func(t *testing.T) string {
			t.Helper()
			return answerTCP(t, func(*bufio.Reader, io.Writer) error { return io.EOF })
		},
		"redis":    func(t *testing.T) string { t.Helper(); return answerTCP(t, answerPING) },
		"postgres": func(t *testing.T) string { t.Helper(); return answerTCP(t, (&queried{}).answer) },
		"dns":      answerDNS,
		"grpc":     answerGRPC,
		"http":     func(t *testing.T) string { t.Helper(); return answerHTTP(t, httptest.NewServer) },
		"tls": func(t *testing.T) string {
			t.Helper()
			return strings.TrimPrefix(answerHTTP(t, httptest.NewTLSServer), "https://")
		},
	}
}

// faultily serves with a delay: that of NTP, of which one exchange follows the other, leaves
// few moments without one in flight.
func faultily(delay time.Duration, where func(*serve.Config), at func(*serve.Server) string) target {
	return func(t *testing.T) string {
		t.Helper()
		slow, _, err := serve.Faults().Parse("fault", "delay:out="+delay.String())
		if err != nil {
			t.Fatal(err)
		}
		cfg := serve.Config{Faults: []serve.Fault{slow}}
		where(&cfg)
		s, err := serve.Start(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return at(s)
	}
}

// answerTCP serves connections until the test ends; answer reads one request and writes
// the answer to it, later.
func answerTCP(t *testing.T, answer func(*bufio.Reader, io.Writer) error) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for err := error(nil); err == nil; {
					err = answer(in, c)
				}
			}()
		}
	}()
	return l.Addr().String()
}

func answerPING(in *bufio.Reader, out io.Writer) error {
	for range 3 { // *1, $4, PING
		if _, err := in.ReadString('\n'); err != nil {
			return err
		}
	}
	time.Sleep(answerAfter)
	_, err := io.WriteString(out, "+PONG\r\n")
	return err
}

// queried answers the startup of a PostgreSQL connection and then simple queries: who
// asks is let in, and every query is complete (protocol 3.0).
type queried struct{}

func (*queried) answer(in *bufio.Reader, out io.Writer) error {
	ready := []byte{'Z', 0, 0, 0, 5, 'I'}
	head, err := in.Peek(5)
	if err != nil {
		return err
	}
	if head[0] == 0 { // a startup packet has no type
		body := make([]byte, binary.BigEndian.Uint32(head))
		if _, err := io.ReadFull(in, body); err != nil {
			return err
		}
		_, err = out.Write(append([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 0}, ready...))
		return err
	}
	body := make([]byte, 1+binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(in, body); err != nil || head[0] == 'X' {
		return io.EOF
	}
	time.Sleep(answerAfter)
	complete := append([]byte{'C', 0, 0, 0, 13}, "SELECT 1\x00"...)
	_, err = out.Write(append(complete, ready...))
	return err
}

func answerDNS(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		for buf := make([]byte, 2048); ; {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			query := bytes.Clone(buf[:n])
			time.AfterFunc(answerAfter, func() {
				var m dnsmessage.Message
				if m.Unpack(query) == nil {
					m.Response, m.RCode, m.Additionals = true, dnsmessage.RCodeNameError, nil
					if b, err := m.Pack(); err == nil {
						_, _ = c.WriteTo(b, from)
					}
				}
			})
		}
	}()
	return c.LocalAddr().String()
}

func answerHTTP(t *testing.T, start func(http.Handler) *httptest.Server) string {
	t.Helper()
	s := start(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(answerAfter)
		_, _ = io.WriteString(w, "late enough")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func answerGRPC(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		time.Sleep(answerAfter)
		return handle(ctx, request)
	}))
	healthpb.RegisterHealthServer(s, health.NewServer())
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() { s.Stop(); serving.Wait() })
	return l.Addr().String()
}

// withStamps reports whether a probe's rows have stamps of wall clocks.
func withStamps(name string) bool { return name == "udp" || name == "stamp" || name == "ntp" }

// withOptions is what a probe needs to be told beside its target.
func withOptions(name string) string {
	switch name {
	case "tls":
		return "tls:insecure=true"
	case "ntp":
		return "ntp:mode=interleaved"
	}
	return name
}

// While every kind of round trip is recorded, the wall clock is set a second ahead, and
// back. No latency that a user sees has that second in it; an exchange of stamps that was
// in flight over the step is invalid and says why, and no other is.
func TestWallStepChangesNoLatency(t *testing.T) {
	targets := stepTargets()
	for _, e := range Probes() {
		p, _, err := Probes().Parse("probe", e.Name)
		if err != nil {
			t.Fatal(err)
		}
		if k := p.Kind(); k != datasets.RTT && k != datasets.Exchanges {
			continue
		}
		if _, ok := targets[e.Name]; !ok {
			t.Errorf("no server for the probe %q: a step of the wall clock under it is not tested", e.Name)
		}
	}
	if os.Getenv(allowStep) == "" {
		t.Skip("sets the wall clock: runs in the lab's guest alone (make lab)")
	}
	if _, err := os.Stat("/lab/lib.sh"); err != nil {
		t.Fatalf("not the lab's guest: %v", err)
	}
	for _, e := range Probes() {
		if start := targets[e.Name]; start != nil {
			t.Run(e.Name, func(t *testing.T) { holdStep(t, e.Name, start(t)) })
		}
	}
}

// holdStep has three rounds. A guest whose every instruction is emulated stands still now
// and then, for as long as a step is wide: that comes and goes, while a step that is taken
// for latency is there in every round.
func holdStep(t *testing.T, name, at string) {
	t.Helper()
	var wrong []string
	for range 3 {
		samples, why := overSteps(t, name, at)
		if wrong = stepsTold(t, name, samples, why); len(wrong) == 0 {
			return
		}
	}
	t.Error(strings.Join(wrong, "\n"))
}

// overSteps records while the wall clock is set a second ahead and back.
func overSteps(t *testing.T, name, at string) (samples []datasets.Sample, why func(int) string) {
	t.Helper()
	const each = 700 * time.Millisecond
	p, _, err := Probes().Parse("probe", withOptions(name))
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Interval: 50 * time.Millisecond, Duration: 3 * each, Listen: datasets.Some(5 * time.Second), Owned: true}
	if withStamps(name) {
		plan.Interval = answerAfter * 3 / 4 // one is in flight at any time
	}
	trips, exchanges := &rowsOf{}, &ntpTape{}
	var rec Recorder = trips
	if p.Kind() == datasets.Exchanges {
		rec = exchanges
	}
	var run sync.WaitGroup
	run.Go(func() {
		if err := p.Run(t.Context(), at, plan, rec); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(each)
	stepClock(t, time.Second)
	time.Sleep(each)
	stepClock(t, -time.Second)
	run.Wait()
	if p.Kind() != datasets.Exchanges {
		return trips.samples, func(i int) string { return trips.samples[i].Extra }
	}
	for i := range exchanges.rows {
		samples = append(samples, exchanges.rows[i].Sample)
	}
	return samples, func(i int) string { return exchanges.rows[i].Why }
}

func stepClock(t *testing.T, by time.Duration) {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &now); err != nil {
		t.Fatal(err)
	}
	set := unix.NsecToTimespec(now.Nano() + int64(by))
	if err := unix.ClockSettime(unix.CLOCK_REALTIME, &set); err != nil {
		t.Fatal(err)
	}
}

// stepsTold says what is wrong with the samples of one recording that the clock stepped
// under twice.
func stepsTold(t *testing.T, name string, samples []datasets.Sample, why func(int) string) (wrong []string) {
	t.Helper()
	var slowest time.Duration
	var answered, invalid int
	for i := range samples {
		s := &samples[i]
		d, ok := s.Latency()
		switch {
		case ok:
			answered++
			slowest = max(slowest, d)
		case s.Outcome == datasets.Invalid && strings.Contains(why(i), "clock"):
			invalid++
		default:
			wrong = append(wrong, fmt.Sprintf("attempt %d: %s, %s", s.Seq, s.Outcome, why(i)))
		}
	}
	t.Logf("%-8s %d samples, %d answered, the slowest after %v; %d were in flight over a step", name, len(samples), answered, slowest, invalid)
	if len(samples) < 8 || answered < len(samples)-10 || slowest > 700*time.Millisecond {
		wrong = append(wrong, "the step is in its latencies")
	}
	if withStamps(name) != (invalid > 0) {
		wrong = append(wrong, fmt.Sprintf("%d were in flight over a step", invalid))
	}
	return wrong
}
