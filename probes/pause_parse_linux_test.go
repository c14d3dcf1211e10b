package probes

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// FuzzKernelText writes what the kernel writes, with any numbers and any name of a
// process, and wants them back; and of any text at all no time below 0.
func FuzzKernelText(f *testing.F) {
	f.Add(uint64(1), "sleep", byte('S'), "cpu0 1 2 3 4 5 6 7 8")
	f.Add(uint64(math.MaxInt64), "a) Z (b", byte('T'), "some total=-1")
	f.Add(uint64(math.MaxUint64), "\n", byte('D'), "1 -2 3")
	f.Fuzz(func(t *testing.T, n uint64, name string, state byte, text string) {
		if state != ')' {
			stat := fmt.Sprintf("17 (%s) %c 1 17 17 0 -1", name, rune(state&0x7f))
			if got, ok := parseState([]byte(stat)); !ok || got != state&0x7f && state&0x7f != ')' {
				t.Errorf("state of %q: %q, %t", stat, got, ok)
			}
		}
		waited, ok := parseWaited(fmt.Appendf(nil, "5 %d 6\n", n))
		if fits := n <= math.MaxInt64; ok != fits || fits && waited != time.Duration(n) {
			t.Errorf("%d: waited %v, %t", n, waited, ok)
		}
		us := n / 2000
		total, ok := parsePressure(fmt.Sprintf("some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n", us))
		if !ok || total != time.Duration(us)*time.Microsecond {
			t.Errorf("%d µs: %v, %t", us, total, ok)
		}
		ticks := n % (1 << 32)
		cpu, stole, ok := parseSteal(fmt.Appendf(nil, "cpu%d 1 2 3 4 5 6 7 %d 9 10", n%1000, ticks))
		if !ok || string(cpu) != fmt.Sprint(n%1000) || stole != time.Duration(ticks)*10*time.Millisecond {
			t.Errorf("%d ticks of cpu %s: %v, %t", ticks, cpu, stole, ok)
		}
		if d, ok := parseWaited([]byte(text)); ok && d < 0 {
			t.Errorf("%q: waited %v", text, d)
		}
		if d, ok := parsePressure(text); ok && d < 0 {
			t.Errorf("%q: pressure %v", text, d)
		}
		if _, d, ok := parseSteal([]byte(text)); ok && d < 0 {
			t.Errorf("%q: stole %v", text, d)
		}
	})
}

// FuzzFollowedLines holds what follows a log to this: in whatever pieces it is written,
// its lines are the same, as far as they have an end.
func FuzzFollowedLines(f *testing.F) {
	f.Add("a\nbc\n\nd", uint8(2))
	f.Fuzz(func(t *testing.T, text string, piece uint8) {
		if len(text) > longestLine {
			return
		}
		var got []string
		log := followed{}
		for rest := text; rest != ""; {
			n := min(len(rest), int(piece)+1)
			log.lines([]byte(rest[:n]), func(line []byte) { got = append(got, string(line)) })
			rest = rest[n:]
		}
		want := strings.Split(text, "\n")
		if want = want[:len(want)-1]; strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
			t.Errorf("%q in pieces of %d: %q", text, int(piece)+1, got)
		}
	})
}
