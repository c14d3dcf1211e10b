package probes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

var errEnough = errors.New("enough")

// gcLog is a log that a test writes as a JVM does.
type gcLog struct {
	t     *testing.T
	file  *os.File
	start time.Time
}

func (l *gcLog) create(path string) {
	l.t.Helper()
	f, err := os.Create(path)
	if err != nil {
		l.t.Fatal(err)
	}
	l.file = f
}

// stop writes the line of a stop that ends now.
func (l *gcLog) stop(operation string, length time.Duration) {
	l.write(fmt.Sprintf("[%.3fs][info][safepoint] Safepoint %q, Time since last: 1 ns, Reaching safepoint: 5 ns, At safepoint: 7 ns, Total: %d ns\n",
		time.Since(l.start).Seconds(), operation, int64(length)))
}

func (l *gcLog) collection(length string) {
	l.write(fmt.Sprintf("[%.3fs][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 4M->1M(8M) %s\n", time.Since(l.start).Seconds(), length))
}

func (l *gcLog) write(text string) {
	l.t.Helper()
	for half := range 2 { // a reader may see half a line
		from, to := half*len(text)/2, (half+1)*len(text)/2
		if _, err := l.file.WriteString(text[from:to]); err != nil {
			l.t.Fatal(err)
		}
	}
}

// A JVM that goes on writing, renames its log, then truncates it and then falls silent
// behind a collection whose stop it does not tell.
func TestPauseFollowsAGCLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gc.log")
	l := &gcLog{t: t, start: time.Now().Add(-time.Hour)}
	l.create(path)
	l.write("[0.010s][info][gc] Using G1\n")
	l.collection("500.000ms")
	l.stop("long ago", time.Second)
	steps := []func(){
		func() {
			l.collection("11.000ms")
			l.stop("G1CollectForAllocation", 12*time.Millisecond)
			l.stop("too short", time.Microsecond)
		},
		func() { // JDK 9 and later: gc.log becomes gc.log.0
			l.stop("last of the old", 5*time.Millisecond)
			if err := os.Rename(path, path+".0"); err != nil {
				t.Error(err)
			}
			old := l.file
			l.create(path)
			old.Close()
			l.stop("first of the new", 6*time.Millisecond)
		},
		func() {},
		func() { // as logrotate does with copytruncate
			if err := l.file.Truncate(0); err != nil {
				t.Error(err)
			}
			if _, err := l.file.Seek(0, 0); err != nil {
				t.Error(err)
			}
			l.stop("short", 7*time.Millisecond)
		},
		func() { l.collection("8.000ms") },
	}
	want := []string{
		"12ms Pause Young (Normal) (G1 Evacuation Pause)", "5ms safepoint last of the old", "6ms safepoint first of the new",
		"7ms safepoint short", "8ms Pause Young (Normal) (G1 Evacuation Pause)",
	}
	time.AfterFunc(100*time.Millisecond, steps[0])
	next := 0
	rec := &recording{onRow: func(int64) error {
		if next++; next < len(steps) {
			steps[next]()
			return nil
		}
		return errEnough
	}}
	err := parse(t, "pause:of=jvm,min=1ms,log="+path).Run(t.Context(), "", probes.Plan{Duration: patience}, rec)
	if err != nil && err != errEnough { //nolint:errorlint // as it was given
		t.Fatal(err)
	}
	if err := rec.writer.Close(); err != nil {
		t.Fatal(err)
	}
	tr := read[datasets.Pause](t, rec)
	var got []string
	for i, p := range tr.rows {
		got = append(got, fmt.Sprint(p.Length, " ", p.Cause))
		// The log's times are cut to 1 ms.
		if i > 0 && p.At.Add(p.Length) < tr.rows[i-1].At.Add(tr.rows[i-1].Length-2*time.Millisecond) || p.At < datasets.Instant(-time.Second) || p.At > datasets.Instant(patience) {
			t.Errorf("%s at %v", p.Cause, time.Duration(p.At))
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The older rotation gives every file another name: gc.log.0.current, gc.log.1.current.
func TestPauseFollowsThePatternOfAGCLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gc.log.")
	l := &gcLog{t: t, start: time.Now()}
	l.create(path + "0.current")
	rec := &recording{onRow: func(rows int64) error {
		if rows == 2 {
			return errEnough
		}
		if err := os.Rename(path+"0.current", path+"0"); err != nil {
			t.Error(err)
		}
		l.file.Close()
		l.create(path + "1.current")
		l.write("1.100: Total time for which application threads were stopped: 0.0020000 seconds\n")
		return nil
	}}
	time.AfterFunc(50*time.Millisecond, func() {
		l.write("1.000: Total time for which application threads were stopped: 0.0010000 seconds\n")
	})
	if err := parse(t, "pause:of=jvm,log="+path+"*.current").Run(t.Context(), "", probes.Plan{Duration: patience}, rec); err != errEnough { //nolint:errorlint // as it was given
		t.Fatal(err)
	}
}

func TestPauseOfAGCLogSaysWhatItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gc.log")
	err := parse(t, "pause:of=jvm,log="+path).Run(t.Context(), "", probes.Plan{}, &recording{})
	if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("pause: of=jvm: log %q: there is no such file", path)) {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(path, []byte("[0.010s][info][gc] Using ZGC\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tr := measure[datasets.Pause](t, "pause:of=jvm,log="+path, "", probes.Plan{Duration: 50 * time.Millisecond})
	if got := tr.Text("source"); got != "gc log, unified (JDK 9 or later)" || tr.number(t, "rotations") != 0 {
		t.Errorf("source %q, %s rotations", got, tr.Text("rotations"))
	}
}
