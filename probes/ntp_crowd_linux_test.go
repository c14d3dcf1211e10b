package probes

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/facebook/time/ntp/protocol"

	"github.com/tickmark/tickmark/datasets"
)

// held counts the goroutines and open files of this process.
func held(tb testing.TB) (goroutines, files int) {
	tb.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Skipf("needs /proc: %v", err)
	}
	return runtime.NumGoroutine(), len(all)
}

// releases fails the test unless what was held before is all that is held soon.
func releases(t *testing.T, work func()) {
	t.Helper()
	work() // what the runtime opens once and keeps
	goroutines, files := held(t)
	work()
	var nowGo, nowFiles int
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); runtime.Gosched() {
		if nowGo, nowFiles = held(t); nowGo <= goroutines && nowFiles <= files {
			return
		}
	}
	t.Errorf("goroutines %d, files %d; before %d and %d", nowGo, nowFiles, goroutines, files)
}

// A thousand targets, twenty at a time, some that answer, some that do not, some that
// are not there, and some recordings stopped in the middle: nothing is left behind.
func TestAThousandTargetsLeaveNothingBehind(t *testing.T) {
	answers, silent := serveNTP(t, sound).String(), serveNTP(t, func(int, []byte) [][]byte { return nil }).String()
	closed := closedPort(t)
	for _, text := range []string{"ntp:engine=precise", "ntp:engine=precise,mode=interleaved", "ntp:engine=portable"} {
		t.Run(text, func(t *testing.T) {
			p := parseNTP(t, text)
			releases(t, func() {
				var lanes sync.WaitGroup
				for lane := range 20 {
					lanes.Go(func() {
						for i := range 25 {
							target := []string{answers, answers, silent, closed}[i%4]
							if err := twoAttempts(t, p, target, (lane+i)%8 == 1); err != nil {
								t.Error(err)
							}
						}
					})
				}
				lanes.Wait()
			})
		})
	}
}

// twoAttempts records two attempts, or is stopped after the first.
func twoAttempts(t *testing.T, p Probe, target string, stopped bool) error {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	tape := &ntpTape{each: func(*datasets.Exchange) error {
		if stopped {
			stop()
		}
		return nil
	}}
	plan := Plan{Count: 2, Interval: time.Microsecond, Listen: datasets.Some(time.Millisecond)}
	return p.Run(ctx, target, plan, tape)
}

// closedPort is an address that nobody listens at.
func closedPort(tb testing.TB) string {
	tb.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().String()
}

// hostility are the ways in which a peer of the crowd is hostile.
func hostility() []func(n int, request []byte) [][]byte {
	change := func(f func(*protocol.Packet)) func(int, []byte) [][]byte {
		return func(_ int, request []byte) [][]byte { return [][]byte{goodReply(request, 0, f)} }
	}
	return []func(int, []byte) [][]byte{
		func(int, []byte) [][]byte { return nil },
		func(int, []byte) [][]byte { return make([][]byte, 200) }, // a flood
		func(int, []byte) [][]byte { return [][]byte{[]byte(strings.Repeat("\xff", 2000))} },
		func(_ int, request []byte) [][]byte { return [][]byte{request} },
		change(func(p *protocol.Packet) { p.OrigTimeFrac++ }),
		change(func(p *protocol.Packet) { p.TxTimeSec += 3 }),
		change(func(p *protocol.Packet) { p.Stratum = 0 }),
		change(func(p *protocol.Packet) { p.Poll, p.Precision = -128, 127 }),
		change(func(p *protocol.Packet) { p.Settings |= 3 << 6 }),
		func(_ int, request []byte) [][]byte { // every reply a thousand times
			replies := make([][]byte, 200)
			for i := range replies {
				replies[i] = goodReply(request, time.Hour, func(p *protocol.Packet) { p.OrigTimeSec++ })
			}
			return replies
		},
	}
}

// A hundred hostile peers at once, ten of each kind, neither stall the sound ones
// beside them nor leave anything behind.
func TestAHundredHostilePeersStallNobody(t *testing.T) {
	var hostile, honest []string
	for range 10 {
		for _, answer := range hostility() {
			hostile = append(hostile, serveNTP(t, answer).String())
		}
	}
	for range 5 {
		honest = append(honest, serveNTP(t, sound).String())
	}
	releases(t, func() {
		ctx, stop := context.WithCancel(t.Context())
		var crowd, good sync.WaitGroup
		for _, at := range hostile {
			crowd.Go(func() {
				plan := Plan{Interval: 10 * time.Millisecond, Listen: datasets.Some(100 * time.Millisecond)}
				if err := parseNTP(t, "ntp:mode=interleaved").Run(ctx, at, plan, &ntpTape{}); err != nil {
					t.Error(err)
				}
			})
		}
		for i, at := range honest {
			good.Go(func() {
				tape := &ntpTape{}
				plan := Plan{Count: 50, Interval: 10 * time.Millisecond, Listen: datasets.Some(10 * time.Second)}
				if err := parseNTP(t, "ntp").Run(t.Context(), at, plan, tape); err != nil {
					t.Error(err)
				}
				if replied := countReplied(tape.rows); replied != 50 {
					t.Errorf("honest server %d: %d of 50 replied: %s", i, replied, lastWhy(tape.rows))
				}
			})
		}
		good.Wait()
		stop()
		crowd.Wait()
	})
}

func countReplied(rows []datasets.Exchange) (n int) {
	for _, e := range rows {
		if e.Outcome == datasets.Replied {
			n++
		}
	}
	return n
}

func lastWhy(rows []datasets.Exchange) string {
	if len(rows) == 0 {
		return "nothing"
	}
	last := rows[len(rows)-1]
	return fmt.Sprintf("%v %q", last.Outcome, last.Why)
}
