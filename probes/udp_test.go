package probes_test

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/probes"
	"github.com/tickmark/tickmark/probes/echo"
	"github.com/tickmark/tickmark/probes/serve"
)

// echoServer serves the echo on addr with the faults, until the test ends.
func echoServer(t *testing.T, addr string, faults ...string) *serve.Server {
	t.Helper()
	cfg := serve.Config{UDP: addr, Seed: 1}
	for _, text := range faults {
		f, _, err := serve.Faults().Parse("fault", text)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Faults = append(cfg.Faults, f)
	}
	s, err := serve.Start(cfg)
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		t.Skipf("this host has no %s", addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

const loopback = "127.0.0.1:0"

func every(interval time.Duration, count int64) probes.Plan {
	return listening(probes.Plan{Interval: interval, Count: count}, patience)
}

// served returns the columns server_ns and server_queued_ns of a row.
func served(t *testing.T, row *datasets.Sample) (server, queued string) {
	t.Helper()
	cells := strings.Split(row.Extra, "\t")
	if len(cells) != 6 {
		t.Fatalf("attempt %d: columns %q", row.Seq, row.Extra)
	}
	return cells[3], cells[4]
}

func TestUDPRoundTrips(t *testing.T) {
	for _, addr := range []string{loopback, "[::1]:0"} {
		t.Run(addr, func(t *testing.T) {
			s := echoServer(t, addr)
			plan := every(2*time.Millisecond, 50)
			plan.Facts = []datasets.Field{{Key: "probe", Value: "udp:size=1400"}}
			tr := measure[datasets.Sample](t, "udp:size=1400", s.UDPAddr().String(), plan)
			wantSamples(t, tr, 50)
			for i, s := range tr.rows {
				if want := datasets.Instant(i) * datasets.Instant(2*time.Millisecond); s.Due != want || s.Seq != int64(i) {
					t.Fatalf("attempt %d is due at %d, want %d", s.Seq, s.Due, want)
				}
				server, queued := served(t, &s)
				if s.Outcome != datasets.Replied || s.Copies != 1 || s.Size != 1400 || server == "-" || queued == "" {
					t.Fatalf("%+v", s)
				}
			}
			for key, want := range map[string]string{
				"kind": "rtt", "probe": "udp:size=1400", "address": s.UDPAddr().String(), "stamps": "user",
				"schedule": "constant:interval=2ms,count=50", "deadline": "staggered:from=15s,to=30s", "listen": "30s",
				"sent": "50", "skipped": "0", "junk": "0", "unfinished": "0",
			} {
				if got := tr.Text(key); got != want {
					t.Errorf("%s: got %q, want %q", key, got, want)
				}
			}
			if got, want := strings.Join(tr.Extra, " "), "t1 t2 t4 server_ns server_queued_ns why"; got != want {
				t.Errorf("extra columns %q, want %q", got, want)
			}
		})
	}
}

func TestUDPKeepsToASeededSchedule(t *testing.T) {
	s := echoServer(t, loopback)
	var dues [2][]datasets.Instant
	for i := range dues {
		tr := measure[datasets.Sample](t, "udp:arrivals=poisson,seed=5", s.UDPAddr().String(), every(time.Millisecond, 30))
		for _, s := range tr.rows {
			dues[i] = append(dues[i], s.Due)
		}
		if got, want := tr.Text("schedule"), "poisson:interval=1ms,count=30,seed=5"; got != want {
			t.Errorf("schedule %q, want %q", got, want)
		}
	}
	for n := range dues[0] {
		if dues[0][n] != dues[1][n] {
			t.Fatalf("attempt %d is due at %d and %d", n, dues[0][n], dues[1][n])
		}
	}
}

// A server that is frozen until an instant answers no sooner: an attempt that was
// due in the freeze has at least what is left of it as its latency, and the server
// says that the request lay there unread. Attempts are due all the while.
func TestUDPSeesAFreeze(t *testing.T) {
	s := echoServer(t, loopback, "freeze:after=100ms,for=400ms,every=1h,times=1")
	plan := every(10*time.Millisecond, 80)
	plan.Deadline = datasets.Some(50 * time.Millisecond)
	tr := measure[datasets.Sample](t, "udp", s.UDPAddr().String(), plan)
	wantSamples(t, tr, 80)
	freezes := s.Stats().UDP.Freezes
	epoch, ok := tr.Epoch()
	if len(freezes) != 1 || !ok {
		t.Fatalf("%d freezes, epoch %v", len(freezes), ok)
	}
	// The epoch is known by the wall clock alone; a millisecond is for its slewing.
	from := datasets.Instant(freezes[0].Start.Round(0).Sub(epoch))
	to := from.Add(freezes[0].Length - time.Millisecond)
	if to <= 0 || from > datasets.Instant(600*time.Millisecond) {
		t.Skipf("frozen from %v to %v, while attempts were due from 0s to 790ms", time.Duration(from), time.Duration(to))
	}
	inside, byServer := 0, 0
	for _, row := range tr.rows {
		latency, _ := row.Latency()
		if (latency > 50*time.Millisecond) != (row.Outcome == datasets.Late) {
			t.Errorf("%s after %v with a deadline of 50ms", row.Outcome, latency)
		}
		if row.Sent <= from || row.Sent >= to {
			continue
		}
		inside++
		if left := to.Sub(row.Due); latency < left {
			t.Errorf("due %v before the end of the freeze, answered after %v", left, latency)
		}
		server, queued := served(t, &row)
		d, err := time.ParseDuration(queued + "ns")
		if err == nil && d >= to.Sub(row.Sent)-time.Millisecond {
			byServer++
		} else if row.Sent < to.Add(-10*time.Millisecond) {
			t.Logf("sent %v before the end of the freeze: server %s, queued %s", to.Sub(row.Sent), server, queued)
		}
	}
	t.Logf("%s; %d sent in the freeze, %d of them say that they lay at the server", outcomes(tr), inside, byServer)
	if late, _ := tr.Duration("lateness-max"); inside == 0 && late > 300*time.Millisecond {
		t.Skipf("this machine let the sender sleep for %v", late)
	}
	if inside == 0 {
		t.Fatal("no attempt was sent in the freeze: the schedule stopped with the server")
	}
	if tr.Text("stall-stamps") == "kernel" && byServer == 0 {
		t.Error("no answer tells that the request lay unread at the server")
	}
}

func TestUDPLosesWhatTheServerLoses(t *testing.T) {
	t.Parallel()
	s := echoServer(t, loopback, "loss:share=30%")
	tr := measure[datasets.Sample](t, "udp", s.UDPAddr().String(), listening(probes.Plan{Interval: time.Millisecond, Count: 100}, 5*time.Second))
	wantSamples(t, tr, 100)
	var lost int64
	for _, row := range tr.rows {
		if row.Outcome != datasets.TimedOut {
			continue
		}
		if lost++; !strings.HasSuffix(row.Extra, "\t-\t-\t-\t-\t-") {
			t.Errorf("attempt %d was not answered, but its server columns are %q", row.Seq, row.Extra)
		}
	}
	if stats := s.Stats().UDP; lost != stats.Lost || lost == 0 {
		t.Errorf("%s; the server lost %d", outcomes(tr), stats.Lost)
	}
}

func TestUDPCountsDuplicates(t *testing.T) {
	s := echoServer(t, loopback, "duplicate:share=40%,copies=2")
	tr := measure[datasets.Sample](t, "udp", s.UDPAddr().String(), every(time.Millisecond, 60))
	wantSamples(t, tr, 60)
	var copies, more int64
	for _, row := range tr.rows {
		copies += int64(row.Copies)
		if row.Copies > 1 {
			more++
		}
	}
	// The last row may be recorded before its last duplicate is read.
	all := copies + tr.number(t, "duplicates-after")
	if sent := s.Stats().UDP.Sent; all > sent || all < sent-2 || more == 0 {
		t.Errorf("%d answers in %d rows, %d rows with duplicates; the server sent %d", all, len(tr.rows), more, sent)
	}
}

func TestUDPMatchesOvertakenAnswers(t *testing.T) {
	const by = 30 * time.Millisecond
	s := echoServer(t, loopback, "reorder:share=30%,by=30ms")
	tr := measure[datasets.Sample](t, "udp", s.UDPAddr().String(), every(2*time.Millisecond, 60))
	wantSamples(t, tr, 60)
	held, latest := 0, datasets.Instant(0)
	for _, row := range tr.rows {
		answered := row.Sent.Add(row.Elapsed)
		switch {
		case row.Elapsed >= by:
			held++
		case answered < latest:
			t.Errorf("attempt %d overtook another although neither was held back", row.Seq)
		default:
			latest = answered
		}
	}
	if got := outcomes(tr); got != "60 replied" || held == 0 {
		t.Errorf("%s, %d held back; want 60 replied", got, held)
	}
}

// closedPort returns an address at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.ListenPacket("udp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.LocalAddr().String()
}

func TestUDPIsRefused(t *testing.T) {
	tr := measure[datasets.Sample](t, "udp", closedPort(t), listening(probes.Plan{Interval: 5 * time.Millisecond, Count: 20}, 500*time.Millisecond))
	wantSamples(t, tr, 20)
	if got := outcomes(tr); got != "20 refused" {
		t.Errorf("%s, want 20 refused", got)
	}
}

// Sent at once, most refusals are told by the next write instead of a read, and that
// write has to be made again. Two of them may become one, so not all need be seen.
func TestUDPIsRefusedWhileSending(t *testing.T) {
	tr := measure[datasets.Sample](t, "udp", closedPort(t), listening(probes.Plan{Interval: 1, Count: 100}, 500*time.Millisecond))
	wantSamples(t, tr, 100)
	refused := 0
	for _, row := range tr.rows {
		switch row.Outcome {
		case datasets.Refused:
			refused++
		case datasets.TimedOut:
		default:
			t.Errorf("attempt %d: %s", row.Seq, row.Outcome)
		}
	}
	if refused < 50 || tr.number(t, "sent") != 100 {
		t.Errorf("%s, %s sent", outcomes(tr), tr.Text("sent"))
	}
}

// answering answers the n-th packet it reads as answer says, until the test ends.
func answering(t *testing.T, answer func(n int, p echo.Packet, send func([]byte))) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(loopback)))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for n := 0; ; n++ {
			size, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			p, err := echo.Parse(buf[:size])
			if err != nil {
				t.Errorf("the probe sent %x: %v", buf[:size], err)
				return
			}
			answer(n, p, func(b []byte) { conn.WriteToUDPAddrPort(b, from) })
		}
	}()
	t.Cleanup(func() {
		conn.Close()
		<-done
	})
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

func TestUDPDoesNotBelieve(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(p echo.Packet, send func([]byte))
		want   string
		key    string
		count  int64
	}{
		"junk before the answer": {
			func(p echo.Packet, send func([]byte)) {
				send([]byte("junk"))
				p.Reply = true
				send(p.Append(nil))
			}, "10 replied", "junk", 10,
		},
		"a forged answer before the good one": {
			func(p echo.Packet, send func([]byte)) {
				p.Reply = true
				forged := p
				forged.Session++
				send(forged.Append(nil))
				send(p.Append(nil))
			}, "10 replied", "doubtful", 10,
		},
		"forged answers only": {
			func(p echo.Packet, send func([]byte)) {
				p.Reply = true
				p.Session++
				send(p.Append(nil))
			}, "10 invalid", "doubtful", 10,
		},
		"our own packet": {
			func(p echo.Packet, send func([]byte)) { send(p.Append(nil)) }, "10 invalid", "doubtful", 10,
		},
		"a longer answer": {
			func(p echo.Packet, send func([]byte)) {
				p.Reply = true
				send(append(p.Append(nil), 0))
			}, "10 invalid", "doubtful", 10,
		},
		"nothing but junk": {
			func(_ echo.Packet, send func([]byte)) { send(nil) }, "10 timed-out", "junk", 10,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := answering(t, func(_ int, p echo.Packet, send func([]byte)) { tt.answer(p, send) })
			tr := measure[datasets.Sample](t, "udp", addr.String(), listening(probes.Plan{Interval: time.Millisecond, Count: 10}, 2*time.Second))
			wantSamples(t, tr, 10)
			if got := outcomes(tr); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if got := tr.number(t, tt.key); got != tt.count {
				t.Errorf("%s: %d, want %d", tt.key, got, tt.count)
			}
		})
	}
}

// The server answers the first 20 attempts only, and the user stops at the 20th row.
func TestUDPStoppedByTheUser(t *testing.T) {
	addr := answering(t, func(_ int, p echo.Packet, send func([]byte)) {
		if p.Reply = true; p.Seq < 20 {
			send(p.Append(nil))
		}
	})
	tr := read[datasets.Sample](t, stoppedBy(t, 20, "udp", addr.String(), listening(probes.Plan{Interval: time.Millisecond}, time.Hour)))
	wantSamples(t, tr, 20)
	if got := outcomes(tr); got != "20 replied" {
		t.Errorf("%s, want 20 replied", got)
	}
	if sent, open := tr.number(t, "sent"), tr.number(t, "unfinished"); open == 0 || sent != open+20 {
		t.Errorf("%d sent, 20 recorded, %d unfinished", sent, open)
	}
}

// No socket sends 20,000 packets within a millisecond: the rest is skipped, and
// every one of them has its row.
func TestUDPSkipsWhatIsOverdue(t *testing.T) {
	s := echoServer(t, loopback)
	tr := measure[datasets.Sample](t, "udp", s.UDPAddr().String(), listening(probes.Plan{Interval: 1, Count: 20_000}, time.Millisecond))
	wantSamples(t, tr, 20_000)
	var lost int64
	for _, row := range tr.rows {
		if row.Outcome == datasets.LostLocal {
			lost++
		}
	}
	if skipped := tr.number(t, "skipped"); lost == 0 || lost != skipped+tr.number(t, "send-errors") {
		t.Errorf("%s, %d skipped", outcomes(tr), skipped)
	}
}

func TestUDPEndsWithItsRecorder(t *testing.T) {
	s := echoServer(t, loopback)
	full := errors.New("disk full")
	rec := &recording{onRow: func(int64) error { return full }}
	if err := parse(t, "udp").Run(t.Context(), s.UDPAddr().String(), probes.Plan{Interval: time.Millisecond}, rec); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}

func TestUDPRefusesWrongUse(t *testing.T) {
	for name, tt := range map[string]struct {
		target string
		plan   probes.Plan
	}{
		"no port":              {"localhost", probes.Plan{}},
		"no such port":         {"127.0.0.1:65536", probes.Plan{}},
		"port zero":            {"127.0.0.1:0", probes.Plan{}},
		"a negative interval":  {"127.0.0.1:9", probes.Plan{Interval: -1}},
		"deadline over listen": {"127.0.0.1:9", probes.Plan{Deadline: datasets.Some(time.Second), Listen: datasets.Some(time.Millisecond)}},
	} {
		rec := &recording{}
		err := parse(t, "udp").Run(t.Context(), tt.target, tt.plan, rec)
		if wrong := new(spec.UsageError); !errors.As(err, &wrong) || rec.writer != nil {
			t.Errorf("%s: got %v, want a usage error and no recording", name, err)
		}
	}
}
