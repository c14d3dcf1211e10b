package probes

import (
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
)

// manyPairs is how many packets make bench-peers has paired; make test does with fewer.
const manyPairs = "TICKMARK_BENCH_PAIRS"

// pairing is a recorder that holds each row to cause and effect: both ends of a cable
// between two namespaces have one clock, so a stamp of another packet, 20 µs before or
// after, is out of its place.
type pairing struct {
	rows, answered, lostLocal, lost int64
	unstamped, backwards            int64
	last                            pairedRow
	shifted, followed               int64 // would the stamps of the next packet be seen as such?
	trailer                         datasets.Header
	mostHeap                        uint64
}

type pairedRow struct{ t1, t2, t4 int64 }

func (*pairing) Begin(*datasets.Header) error { return nil }

func (p *pairing) Record(row datasets.Row) error {
	s := row.(*datasets.Sample)
	if p.rows++; p.rows%100_000 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.mostHeap = max(p.mostHeap, m.HeapAlloc)
	}
	switch {
	case s.Outcome == datasets.LostLocal:
		p.lostLocal++
	case !s.Outcome.Answered():
		p.lost++
	default:
		p.answered++
		p.pair(s.Extra)
	}
	return nil
}

func (p *pairing) pair(extra string) {
	var v [5]int64
	for i := range v {
		cell := extra
		for j := range extra {
			if extra[j] == '\t' {
				cell, extra = extra[:j], extra[j+1:]
				break
			}
		}
		var err error
		if v[i], err = strconv.ParseInt(cell, 10, 64); err != nil && i < 4 {
			p.unstamped++
			p.last = pairedRow{}
			return
		}
	}
	r, server, queued := pairedRow{v[0], v[1], v[2]}, v[3], v[4]
	if r.t1 > r.t2 || r.t2+queued+server > r.t4 {
		p.backwards++
	}
	if p.last.t1 != 0 {
		p.followed++
		if r.t1 > p.last.t2 || p.last.t1 > r.t2 {
			p.shifted++
		}
	}
	p.last = r
}

func (p *pairing) End(trailer ...datasets.Field) error {
	for _, f := range trailer {
		p.trailer.Set(f.Key, f.Value)
	}
	return nil
}

// 50,000 probes a second, in batches, each packet with the kernel's stamp of its own
// departure and arrival: none is missing, none is another's.
func TestLabStampsArePairedAtSpeed(t *testing.T) {
	n, err := strconv.ParseInt(os.Getenv(manyPairs), 10, 64)
	if err != nil {
		n = 200_000
	}
	lab := netlab.New(t)
	tickmark := t.TempDir() + "/tickmark"
	if out, err := exec.Command("go", "build", "-o", tickmark, "../cmd/tickmark").CombinedOutput(); err != nil {
		t.Skipf("needs the go command to build tickmark: %v: %.200s", err, out)
	}
	target := netip.AddrPortFrom(lab.Server.Addr, 9900)
	lab.Server.Start(t, tickmark, "serve", "--udp", target.String())
	p, _, err := Probes().Parse("probe", "udp:stamps=kernel")
	if err != nil {
		t.Fatal(err)
	}
	rec := &pairing{}
	time.Sleep(200 * time.Millisecond) // for the server to listen
	before, began := processorTime(t), time.Now()
	err = lab.Client.Do(func() error {
		return p.Run(t.Context(), target.String(), Plan{Interval: 20 * time.Microsecond, Count: n, Listen: datasets.Some(time.Second)}, rec)
	})
	if err != nil {
		t.Fatal(err)
	}
	cpu, took := processorTime(t)-before, time.Since(began)
	t.Logf("%d probes, %s of 50000/s, %.2f µs of CPU each (%.2f cores); %d answered, %d lost, %d lost here; %d without a stamp, %d out of order; a shift by one would show in %.2f %%; heap at most %d MB; %s",
		rec.rows, rec.trailer.Text(datasets.KeyRate), float64(cpu.Microseconds())/float64(rec.rows), cpu.Seconds()/took.Seconds(),
		rec.answered, rec.lost, rec.lostLocal, rec.unstamped, rec.backwards, 100*float64(rec.shifted)/float64(max(rec.followed, 1)), rec.mostHeap>>20, rec.trailer.Text(datasets.KeyUnfit))
	if rec.rows != n || rec.backwards > 0 || rec.answered < n/2 {
		t.Error("rows are missing, or stamps are of other packets")
	}
	if rec.unstamped > 0 {
		t.Errorf("%d packets have no stamp of their own", rec.unstamped)
	}
	if rec.shifted < rec.followed*8/10 {
		t.Error("this would not have seen a stamp of another packet")
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
