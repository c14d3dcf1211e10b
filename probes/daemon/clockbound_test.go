package daemon

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// shm is a segment as docs/PROTOCOL.md of aws/clock-bound lays it out.
type shm struct {
	version, generation uint16
	asOf, voidAfter     time.Duration
	bound               int64
	marker              uint64
	drift               uint32
	status              int32
	magic               [2]uint32
	supported           byte
	asOfNanos           uint64 // to lie with
}

func goodShm(version uint16) shm {
	// The values of ClockBound's own tests: 10 µs, 1000 ppb, void after 10 s.
	return shm{version: version, generation: 2, voidAfter: 10 * time.Second, bound: 10_000, drift: 1000, status: 1, magic: [2]uint32{magic1, magic2}}
}

func (s shm) bytes() []byte {
	order := binary.NativeEndian
	b := order.AppendUint32(nil, s.magic[0])
	b = order.AppendUint32(b, s.magic[1])
	size := map[uint16]uint32{1: shmLength1, 2: shmLength2}[s.version]
	b = order.AppendUint32(b, size)
	b = order.AppendUint16(b, s.version)
	b = order.AppendUint16(b, s.generation)
	for _, t := range []time.Duration{s.asOf, s.voidAfter} {
		b = order.AppendUint64(b, uint64(t/time.Second))
		b = order.AppendUint64(b, uint64(t%time.Second)+s.asOfNanos)
	}
	b = order.AppendUint64(b, uint64(s.bound))
	if s.version == 1 {
		b = order.AppendUint32(b, s.drift)
		b = order.AppendUint32(b, 0)
		return append(order.AppendUint32(b, uint32(s.status)), 0, 0, 0, 0)
	}
	b = order.AppendUint64(b, s.marker)
	b = order.AppendUint32(b, s.drift)
	b = order.AppendUint32(b, uint32(s.status))
	return append(b, s.supported, 0, 0, 0, 0, 0, 0, 0)
}

// The growth of a bound, from the tests of clock-bound-shm: 2 s on it is 12 µs and
// synchronised, at 8 s 18 µs and free running, at 10 s 20 µs and void.
func TestClockBoundGrowsAsItsOwnClientsSay(t *testing.T) {
	for _, version := range []uint16{1, 2} {
		s, err := parseSegment(goodShm(version).bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			at, grown time.Duration
			status    datasets.ClaimStatus
		}{
			{0, 10_000, datasets.Synchronised},
			{2 * time.Second, 12_000, datasets.Synchronised},
			{4 * time.Second, 14_000, datasets.Synchronised},
			{8 * time.Second, 18_000, datasets.FreeRunning},
			{10 * time.Second, 20_000, datasets.Unsynchronised},
		} {
			var got datasets.Claim
			s.fill(&got, c.at)
			if grown := s.boundAt(c.at); grown != c.grown || got.Status != c.status {
				t.Errorf("version %d at %v: %v, %s: want %v, %s", version, c.at, grown, got.Status, c.grown, c.status)
			}
			var want any = c.grown
			if c.status == datasets.Unsynchronised { // it vouches for nothing any more
				want = nil
			}
			checkCell(t, "bound", got.Bound, want)
			checkCell(t, "age", got.Age, c.at)
		}
	}
}

func TestClockBoundStatuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*shm)
		at     time.Duration
		status datasets.ClaimStatus
		bound  any
		why    string
	}{
		{"unknown", func(s *shm) { s.status = 0 }, 1, datasets.Unsynchronised, nil, ""},
		{"of no meaning", func(s *shm) { s.status = -7 }, 1, datasets.Unsynchronised, nil, ""},
		{"free running", func(s *shm) { s.status = 2 }, 0, datasets.FreeRunning, 10 * time.Microsecond, ""},
		{"the machine was moved", func(s *shm) { s.status = 3 }, 0, datasets.Disrupted, nil, ""},
		{"another boot", func(s *shm) { s.asOf = time.Hour }, 0, datasets.Synchronised, nil, "its bound is dated in the future: the shared memory is of another boot"},
		{"a tick ahead", func(s *shm) { s.asOf = 4 * time.Millisecond }, 0, datasets.Synchronised, 10 * time.Microsecond, ""},
		{"a mad drift", func(s *shm) { s.drift = 1e9 }, 0, datasets.Synchronised, nil, "its drift is more than one second a second"},
	} {
		in := goodShm(2)
		c.change(&in)
		s, err := parseSegment(in.bytes())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got datasets.Claim
		s.fill(&got, c.at)
		if got.Status != c.status || got.Why != c.why {
			t.Errorf("%s: %s, %q: want %s, %q", c.name, got.Status, got.Why, c.status, c.why)
		}
		checkCell(t, c.name+": bound", got.Bound, c.bound)
	}
}

func TestClockBoundRefusesWhatItIsNot(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "too short"},
		{"a header only", goodShm(2).bytes()[:16], "too short"},
		{"another file", []byte(strings.Repeat("hello\x00\x01\x02", 16)), "another magic number"},
		{"version 3", func() []byte { s := goodShm(2); s.version = 3; return s.bytes() }(), "layout version 3 in 80 bytes: want 1 or 2"},
		{"version 2 cut off", goodShm(2).bytes()[:72], "layout version 2 in 72 bytes"},
		{"a negative bound", func() []byte { s := goodShm(2); s.bound = -1; return s.bytes() }(), "times that cannot be"},
		{"too many nanoseconds", func() []byte { s := goodShm(2); s.asOfNanos = 1e9; return s.bytes() }(), "times that cannot be"},
	} {
		path := filepath.Join(folder, "shm")
		check(t, os.WriteFile(path, c.data, 0o600))
		r, err := ask(t, clockbound(path))
		if err == nil || !strings.Contains(err.Error(), c.want) || len(r.Claims) > 0 {
			t.Errorf("%s: %v, claims %v: want %q", c.name, err, r.Claims, c.want)
		}
	}
	if _, err := ask(t, clockbound(folder)); err == nil {
		t.Error("a folder was read")
	}
}

func TestClockBoundNeverAtRestEndsInTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shm")
	s := goodShm(1)
	s.generation = 3 // odd: a write that never ended
	check(t, os.WriteFile(path, s.bytes(), 0o600))
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	if err := clockbound(path).Ask(ctx, reading()); err == nil || !strings.Contains(err.Error(), "never at rest") {
		t.Errorf("got %v", err)
	}
}

// A reading is of one write: whatever is read, its bound and its drift were written
// together. The writer follows the protocol, as fast as it can.
func TestClockBoundReadsNoMixture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shm")
	f, err := os.Create(path)
	check(t, err)
	defer f.Close()
	s := goodShm(2)
	put := func() {
		odd := s
		odd.generation--
		b := odd.bytes()
		for _, part := range []struct{ from, to int }{{shmGeneration, shmGeneration + 2}, {shmAsOf, shmRest}, {shmRest, shmLength2}} {
			_, err := f.WriteAt(b[part.from:part.to], int64(part.from))
			check(t, err)
		}
		_, err := f.WriteAt(s.bytes()[shmGeneration:shmGeneration+2], shmGeneration)
		check(t, err)
	}
	_, err = f.WriteAt(s.bytes(), 0)
	check(t, err)
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := uint32(1); ; n++ {
			select {
			case <-done:
				return
			default:
			}
			s.generation, s.bound, s.drift = max(s.generation+2, 2), int64(n), n
			put()
			runtime.Gosched()
		}
	})
	versions := map[time.Duration]bool{}
	for deadline := time.Now().Add(patience); len(versions) < 200 && time.Now().Before(deadline); {
		got, err := readSegment(context.Background(), f)
		if err != nil {
			t.Error(err)
			break
		}
		versions[got.bound] = true
		if got.generation%2 != 0 || (got.bound != time.Duration(got.drift) && got.drift != 1000) {
			t.Errorf("a mixture: bound %d, drift %d, generation %d", got.bound, got.drift, got.generation)
			break
		}
	}
	close(done)
	writer.Wait()
	if len(versions) < 200 && !t.Failed() {
		t.Errorf("only %d writes were seen: this shows nothing", len(versions))
	}
}

// FuzzClockBound: what is read as a segment has times that a claim can hold.
func FuzzClockBound(f *testing.F) {
	for _, s := range []shm{goodShm(1), goodShm(2), {version: 2, generation: 9, status: 3}} {
		f.Add(s.bytes(), int64(5e9))
	}
	f.Fuzz(func(t *testing.T, data []byte, now int64) {
		s, err := parseSegment(data)
		if err != nil {
			return
		}
		if s.bound < 0 || s.asOf < 0 || s.voidAfter < 0 {
			t.Errorf("%+v", s)
		}
		var c datasets.Claim
		s.fill(&c, time.Duration(now&(1<<60-1)))
		bound, claimed := c.Bound.Value()
		if claimed && (bound < s.bound || c.Why != "" || s.status == 0 || s.status > 2) {
			t.Errorf("claims %v of %+v", bound, s)
		}
		checkClaim(t, &c)
	})
}
