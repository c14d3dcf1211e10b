package probes_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

// sptpFor serves what sptp says of one grandmaster, and then for a while nothing.
func sptpFor(t *testing.T, answers func(n int64) bool) (target string) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answers(asked.Add(1)) {
			<-r.Context().Done()
			return
		}
		_, _ = w.Write([]byte(`[{"gm_address":"192.0.2.1","gm_present":1,"selected":true,"offset":-1500,"servo_state":2}]`))
	}))
	t.Cleanup(server.Close)
	return "sptp@" + strings.TrimPrefix(server.URL, "http://")
}

func TestDaemonRecordsWhatIsClaimed(t *testing.T) {
	target := sptpFor(t, func(int64) bool { return true })
	tr := measure[datasets.Claim](t, "daemon", target, probes.Plan{Count: 5, Interval: 50 * time.Millisecond, Listen: datasets.Some(patience)})
	readings, skipped := number(t, tr.Text("readings")), number(t, tr.Text("skipped"))
	if len(tr.rows) != 2*readings || readings+skipped != 5 || readings == 0 {
		t.Fatalf("%d rows, %d readings of two, %d skipped, want 5 in all", len(tr.rows), readings, skipped)
	}
	var before datasets.Instant = -1
	for i := 0; i < len(tr.rows); i += 2 {
		main, master := tr.rows[i], tr.rows[i+1]
		offset, _ := main.Offset.Value()
		if main.Source != "sptp" || master.Source != "sptp 192.0.2.1" || offset != 1500*time.Nanosecond {
			t.Errorf("%+v\n%+v", main, master)
		}
		if main.At <= before {
			t.Errorf("row %d at %v, after %v", i, main.At, before)
		}
		before = main.At
		// The two clocks of a row tell the same moment: the wall clock is the epoch's.
		epoch, _ := tr.Epoch()
		wall, _ := main.Wall.UnixNanos()
		if d := time.Unix(0, wall).Sub(epoch) - time.Duration(main.At); d.Abs() > time.Second {
			t.Errorf("row %d: wall and instant differ by %v", i, d)
		}
	}
	for key, want := range map[string]string{
		"kind": "claim", "target": target, "address": strings.TrimPrefix(target, "sptp@"), "daemon": "sptp",
		"unanswered": "0", "schedule": "constant:interval=50ms,count=5",
	} {
		if got := tr.Text(key); got != want {
			t.Errorf("%s %q, want %q", key, got, want)
		}
	}
	if _, lost := tr.Value(datasets.KeyLost); lost {
		t.Error("something is lost")
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// untilHeardAgain stops a recording once its daemon was silent and has come back.
type untilHeardAgain struct {
	recording
	statuses []datasets.ClaimStatus
	stop     context.CancelFunc
}

func (r *untilHeardAgain) Record(row datasets.Row) error {
	if c := row.(*datasets.Claim); c.Source == "sptp" {
		if n := len(r.statuses); n > 0 && r.statuses[n-1] == datasets.Unreachable && c.Status == datasets.Synchronised {
			r.stop()
		}
		r.statuses = append(r.statuses, c.Status)
	}
	return r.recording.Record(row)
}

// A daemon that falls silent after it was seen is a row each time, and it may come back.
func TestDaemonThatFallsSilentIsARow(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	rec := &untilHeardAgain{stop: stop}
	target := sptpFor(t, func(n int64) bool { return n < 4 || n > 6 }) // the first is not recorded
	err := parse(t, "daemon").Run(ctx, target, probes.Plan{Interval: 2 * time.Millisecond, Listen: datasets.Some(200 * time.Millisecond)}, rec)
	if err != nil {
		t.Fatal(err)
	}
	tr := read[datasets.Claim](t, &rec.recording)
	silent := 0
	for _, c := range tr.rows {
		if c.Status == datasets.Unreachable {
			silent++
			if c.Source != "sptp" || c.Why != "no answer in time" {
				t.Errorf("%+v", c)
			}
		}
	}
	if n := len(rec.statuses); n < 2 || rec.statuses[0] != datasets.Synchronised || rec.statuses[n-1] != datasets.Synchronised ||
		silent < 3 || tr.Text("unanswered") != strconv.Itoa(silent) {
		t.Errorf("%v, %d silent, %s unanswered", rec.statuses, silent, tr.Text("unanswered"))
	}
}

func TestDaemonThatIsNotThereIsAnError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := "sptp@" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	rec := &recording{}
	err = parse(t, "daemon").Run(context.Background(), target, probes.Plan{Count: 1}, rec)
	want := "sptp: " + strings.TrimPrefix(target, "sptp@") + ": nothing listens there (is sptp running? sptp@HOST:PORT names its listenaddress and monitoringport)"
	if err == nil || err.Error() != want || rec.writer != nil {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestDaemonStopsWhenAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rec := &recording{}
	target := sptpFor(t, func(n int64) bool {
		if n == 4 {
			cancel() // while it is being asked, with a minute to go
		}
		return n < 4
	})
	began := time.Now()
	err := parse(t, "daemon").Run(ctx, target, probes.Plan{Interval: time.Millisecond, Listen: datasets.Some(time.Minute)}, rec)
	if err != nil || time.Since(began) > patience {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	tr := read[datasets.Claim](t, rec)
	if len(tr.rows) < 4 || tr.Text("unanswered") != "0" {
		t.Errorf("%d rows, %s unanswered", len(tr.rows), tr.Text("unanswered"))
	}
}

// The kernel of every Linux has something to say; elsewhere it is unsupported.
func TestDaemonKernel(t *testing.T) {
	rec := &recording{}
	err := parse(t, "daemon").Run(context.Background(), "kernel", probes.Plan{Count: 2, Interval: time.Millisecond}, rec)
	if runtime.GOOS != "linux" {
		if err == nil || !strings.Contains(err.Error(), "unsupported") {
			t.Errorf("got %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range read[datasets.Claim](t, rec).rows {
		if _, ok := c.Fact("maxerror_us"); c.Source != "kernel" || !ok {
			t.Errorf("%+v", c)
		}
	}
}

// What is lost for want of a permission stands in the header.
func TestDaemonHeaderSaysWhatIsLost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a shell and timesyncd's places")
	}
	folder := t.TempDir()
	script := "#!/bin/sh\necho 'Access denied' >&2; exit 1\n"
	if err := os.WriteFile(filepath.Join(folder, "busctl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	rec := &recording{}
	err := parse(t, "daemon").Run(context.Background(), "timesyncd", probes.Plan{Count: 1}, rec)
	if _, noFile := os.Stat("/run/systemd/timesync/synchronized"); noFile != nil {
		if err == nil || !strings.Contains(err.Error(), "busctl: access denied") {
			t.Errorf("got %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if lost := read[datasets.Claim](t, rec).Text(datasets.KeyLost); !strings.Contains(lost, "access denied") {
		t.Errorf("lost %q", lost)
	}
}
