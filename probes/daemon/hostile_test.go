package daemon

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// datagrams lists the daemons that answer datagrams with datagrams, each with a fake
// that answers as it should.
func datagrams() []hostile {
	return []hostile{
		{"chronyd over UDP", func() behaviour { return honest(goodChronyd().answer) }, newChronyd, false, 4, cmdmonReplyTo, []int{0, 1, cmdmonCommand + 1}},
		{"chronyd over its socket", func() behaviour { return honest(goodChronyd().answer) }, newChronyd, true, 4, cmdmonReplyTo, []int{0, 1, cmdmonCommand + 1}},
		{"ntpd", func() behaviour { return goodNtpd().act }, newNtpd, false, 4, 2, []int{0, 1, 7}}, // mode, operation, association
		{"ptp4l", func() behaviour { return honest(goodPtp4l().answer) }, newPtp4l, true, 2, mgmtSequence, []int{
			0, mgmtDomain, mgmtTarget, mgmtTarget + 9, mgmtAction, mgmtTLV + 5, // type, domain, addressee, action, data set
		}},
	}
}

type hostile struct {
	name     string
	act      func() behaviour
	open     func(place string) (Daemon, error)
	unix     bool
	claims   int
	sequence int   // where an answer has its number
	foreign  []int // bytes of its head that make it an answer to something else
}

// spoiled sends what spoil makes of each datagram of the right answer, and then, if it
// relents, that.
func spoiled(act behaviour, relent bool, spoil func(reply []byte) [][]byte) behaviour {
	return func(request []byte) [][]byte {
		var out [][]byte
		right := act(request)
		for _, reply := range right {
			out = append(out, spoil(append([]byte(nil), reply...))...)
		}
		if relent {
			out = append(out, right...)
		}
		return out
	}
}

// No answer but the one to the question that was asked is taken, and those that are not
// it keep nobody from hearing the right one.
func TestOnlyTheAnswerCounts(t *testing.T) {
	for _, d := range datagrams() {
		for _, h := range []struct {
			name  string
			spoil func(sequence int, reply []byte) [][]byte
		}{
			{"an answer to the question before", func(at int, b []byte) [][]byte {
				if b[at+1]--; b[at+1] == 0xff {
					b[at]--
				}
				return [][]byte{b}
			}},
			{"an answer to a later question", func(at int, b []byte) [][]byte { b[at] ^= 0x80; return [][]byte{b} }},
			{"answers to something else", func(_ int, b []byte) [][]byte {
				var all [][]byte
				for _, at := range d.foreign {
					other := append([]byte(nil), b...)
					other[at] ^= 1
					all = append(all, other)
				}
				return all
			}},
			{"a short one", func(_ int, b []byte) [][]byte { return [][]byte{b[:11]} }},
			{"an empty one", func(int, []byte) [][]byte { return [][]byte{{}} }},
			{"a question", func(int, []byte) [][]byte { return [][]byte{make([]byte, 80)} }},
			{"garbage", func(int, []byte) [][]byte {
				var all [][]byte
				for n := 1; n < 3000; n *= 3 { // more would not fit into a socket
					b := make([]byte, n)
					_, _ = rand.Read(b)
					all = append(all, b)
				}
				return all
			}},
		} {
			for _, relent := range []bool{true, false} {
				f, daemon := openFake(t, d.open, d.unix, spoiled(d.act(), relent, func(b []byte) [][]byte { return h.spoil(d.sequence, b) }))
				if !relent {
					r, err := askWithin(t, daemon, 30*time.Millisecond)
					if !errors.Is(err, errStrays) && !errors.Is(err, errSilent) || len(r.Claims) > 0 {
						t.Errorf("%s, %s alone: %v, %d claims", d.name, h.name, err, len(r.Claims))
					}
					continue
				}
				r, err := ask(t, daemon)
				if err != nil || len(r.Claims) != d.claims || r.Claims[0].Status != datasets.Synchronised {
					t.Errorf("%s, after %s: %v, %d claims", d.name, h.name, err, len(r.Claims))
					continue
				}
				if _, told := r.Claims[0].Fact("strays"); !told || f.asked() != 1 {
					t.Errorf("%s, after %s: strays are not told, or %d sockets were needed: %s", d.name, h.name, f.asked(), r.Claims[0].Facts)
				}
			}
		}
	}
}

func openFake(t *testing.T, open func(string) (Daemon, error), unix bool, act behaviour) (*fake, Daemon) {
	t.Helper()
	var f *fake
	if unix {
		f = fakeUnix(t, filepath.Join(socketFolder(t), "daemon"), act)
	} else {
		f = fakeUDP(t, act)
	}
	d, err := open(f.place)
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return f, d
}

// A right head with a wrong body is an error with words, and no panic of a decoder.
func TestTruncatedAnswersAreErrors(t *testing.T) {
	for _, d := range datagrams() {
		for _, cut := range []int{1, 20} {
			_, daemon := openFake(t, d.open, d.unix, func(request []byte) [][]byte {
				var out [][]byte
				for _, reply := range d.act()(request) {
					out = append(out, reply[:max(len(reply)-cut, d.sequence)])
				}
				return out
			})
			r, err := askWithin(t, daemon, 50*time.Millisecond)
			if err == nil {
				if _, missing := r.Claims[0].Fact("missing"); !missing {
					t.Errorf("%s, %d bytes short: taken for whole: %s", d.name, cut, r.Claims[0].Facts)
				}
				continue
			}
			if strings.ContainsAny(err.Error(), "\n") {
				t.Errorf("%s, %d bytes short: %q", d.name, cut, err)
			}
		}
	}
}

// Bytes behind an answer change nothing, or make it none.
func TestOversizedAnswers(t *testing.T) {
	for _, d := range datagrams() {
		_, daemon := openFake(t, d.open, d.unix, func(request []byte) [][]byte {
			var out [][]byte
			for _, reply := range d.act()(request) {
				out = append(out, append(reply, make([]byte, 5000)...))
			}
			return out
		})
		r, err := askWithin(t, daemon, 200*time.Millisecond)
		if err == nil && (len(r.Claims) != d.claims || r.Claims[0].Status != datasets.Synchronised) {
			t.Errorf("%s: %d claims", d.name, len(r.Claims))
		}
		if err != nil && !errors.Is(err, errStrays) {
			t.Errorf("%s: %v", d.name, err)
		}
	}
}

// A daemon that is silent costs the time it was given and no more. When it finds its
// voice it is heard, from another socket: the answers it owed never come to it.
func TestSilenceEndsInTime(t *testing.T) {
	for _, d := range datagrams() {
		f, daemon := openFake(t, d.open, d.unix, silent)
		for range 2 {
			began := time.Now()
			_, err := askWithin(t, daemon, 20*time.Millisecond)
			if took := time.Since(began); !errors.Is(err, errSilent) || took < 20*time.Millisecond || took > patience {
				t.Errorf("%s: %v after %v", d.name, err, took)
			}
		}
		f.become(d.act())
		r, err := ask(t, daemon)
		if err != nil || len(r.Claims) != d.claims {
			t.Errorf("%s: %v once it answers", d.name, err)
		}
		if f.asked() != 3 {
			t.Errorf("%s: was asked from %d sockets, want one after each silence", d.name, f.asked())
		}
	}
}

// One that answers each question late, when the next has been asked, is never heard.
func TestLateAnswersAreNotTheNextOnes(t *testing.T) {
	for _, d := range datagrams() {
		act := d.act()
		var owed [][]byte
		_, daemon := openFake(t, d.open, d.unix, func(request []byte) [][]byte {
			answer := owed
			owed = act(request)
			return answer
		})
		for range 5 {
			if r, err := askWithin(t, daemon, 10*time.Millisecond); err == nil || len(r.Claims) > 0 {
				t.Errorf("%s: %v, %d claims", d.name, err, len(r.Claims))
			}
		}
	}
}

// A cancelled asking returns at once, whatever the daemon does.
func TestCancelledAskingReturns(t *testing.T) {
	for _, d := range datagrams() {
		_, daemon := openFake(t, d.open, d.unix, silent)
		done := make(chan error)
		ctx, cancel := contextWithCancel(t)
		go func() { done <- daemon.Ask(ctx, reading()) }()
		cancel()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s: no error", d.name)
			}
		case <-time.After(patience):
			t.Fatalf("%s: still asking", d.name)
		}
	}
}

// Neither sockets nor goroutines are left of daemons that were asked and closed.
func TestAskingLeavesNothing(t *testing.T) {
	fakes := make([]*fake, 0, 4)
	all := datagrams()
	for _, d := range all {
		f, _ := openFake(t, d.open, d.unix, d.act())
		fakes = append(fakes, f)
	}
	round := func() {
		for i, d := range all {
			daemon, err := d.open(fakes[i].place)
			check(t, err)
			if _, err := ask(t, daemon); err != nil {
				t.Errorf("%s: %v", d.name, err)
			}
			check(t, daemon.Close())
		}
	}
	round()
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	for range 100 {
		round()
	}
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > goroutines+2 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > goroutines+2 {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
	if n := openFiles(t); n > files+2 {
		t.Errorf("%d open files, %d before", n, files)
	}
}

// A daemon that goes and comes back, at the same place, is found again.
func TestADaemonThatComesBack(t *testing.T) {
	for _, d := range datagrams() {
		place := "127.0.0.1:0"
		if d.unix {
			place = filepath.Join(socketFolder(t), "daemon")
		}
		f, gone := fakeAt(t, place, d.act())
		daemon, err := d.open(f.place)
		check(t, err)
		t.Cleanup(func() { check(t, daemon.Close()) })
		if _, err := ask(t, daemon); err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
		gone()
		if r, err := ask(t, daemon); err == nil || len(r.Claims) > 0 || errors.Is(err, errSilent) {
			t.Errorf("%s: %v of one that is gone", d.name, err)
		}
		_, again := fakeAt(t, f.place, d.act())
		if r, err := ask(t, daemon); err != nil || len(r.Claims) != d.claims {
			t.Errorf("%s: %v of one that is back", d.name, err)
		}
		again()
	}
}
