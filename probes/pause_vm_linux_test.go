package probes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stolen reads a /proc/stat of a test's own, again and again.
func stolen(t *testing.T) (look func(stat string) map[string]time.Duration, w *stealWatcher) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stat")
	w = &stealWatcher{buf: make([]byte, 64)}
	return func(stat string) map[string]time.Duration {
		if err := os.WriteFile(path, []byte(stat), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w.file = f
		got := map[string]time.Duration{}
		if err := w.look(func(cpu *stolenCPU, more time.Duration) { got["cpu"+cpu.name] += more }); err != nil {
			t.Fatal(err)
		}
		return got
	}, w
}

func TestStealIsToldByCPU(t *testing.T) {
	look, w := stolen(t)
	stat := func(lines ...string) string {
		return "cpu  1 2 3 4 5 6 7 99 9 10\n" + strings.Join(lines, "\n") + "\nintr 5 " + strings.Repeat("0 ", 100) + "\nctxt 1\n"
	}
	if got := look(stat("cpu0 1 2 3 4 5 6 7 100 9 10", "cpu1 1 2 3 4 5 6 7 200 9 10")); len(got) > 0 {
		t.Errorf("at first: %v, want nothing yet", got)
	}
	// 3 and 1 hundredths of a second.
	got := look(stat("cpu0 1 2 3 4 5 6 7 103 9 10", "cpu1 1 2 3 4 5 6 7 201 9 10"))
	if got["cpu0"] != 30*time.Millisecond || got["cpu1"] != 10*time.Millisecond {
		t.Errorf("got %v", got)
	}
	// A CPU was taken away: what is counted of the others does not become its.
	if got := look(stat("cpu1 1 2 3 4 5 6 7 201 9 10")); len(got) > 0 {
		t.Errorf("without cpu0: %v", got)
	}
	if got := look(stat("cpu1 1 2 3 4 5 6 7 205 9 10")); got["cpu1"] != 40*time.Millisecond {
		t.Errorf("without cpu0, later: %v", got)
	}
	w.buf = make([]byte, 1<<10)
	if _, err := w.read(); err == nil {
		t.Error("a closed file was read")
	}
}

func TestParseSteal(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"cpu12 0 0 0 0 0 0 0 7 0 0":              70 * time.Millisecond,
		"cpu0 0 0 0 0 0 0 0 7":                   70 * time.Millisecond,
		"cpu  0 0 0 0 0 0 0 7 0 0":               -1,
		"cpu0 0 0 0 0":                           -1, // before 2.6.11
		"cpu0 0 0 0 0 0 0 0 x":                   -1,
		"cpu0 0 0 0 0 0 0 0 -1":                  -1,
		"cpu0 0 0 0 0 0 0 0 9223372036854775807": -1,
		"intr 0 0 0 0 0 0 0 7":                   -1,
		"":                                       -1,
	} {
		if _, got, ok := parseSteal([]byte(line)); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v, %t", line, got, ok)
		}
	}
}
