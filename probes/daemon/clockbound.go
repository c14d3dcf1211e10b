package daemon

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

func clockboundEntry() Entry {
	return Entry{
		Name:    "clockbound",
		Summary: "clockbound of AWS, by its shared memory (versions 1 and 2 of its layout)",
		Places:  []string{"/var/run/clockbound/shm0", "/var/run/clockbound/shm"},
		Hint:    "is clockbound running? clockbound@PATH names its shared memory",
		at: func(place string) (Daemon, error) {
			if !strings.HasPrefix(place, "/") {
				return nil, fmt.Errorf("%q: want the absolute path of its shared memory", place)
			}
			return clockbound(place), nil
		},
	}
}

// clockbound is read from a file that its daemon has mapped: a read sees what was last
// written there.
type clockbound string

func (clockbound) Close() error { return nil }

// Ask makes one claim.
func (d clockbound) Ask(ctx context.Context, r *Reading) error {
	f, err := os.Open(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return &plainError{"there is no such file", err}
	}
	if err != nil {
		return plain(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(errors.New("not a file that is mapped"), err)
	}
	s, err := readSegment(ctx, f)
	if err != nil {
		return err
	}
	now, err := monotonicCoarse()
	if err != nil {
		return err
	}
	s.fill(r.claim("clockbound", ""), now)
	return nil
}

// The layout, from docs/PROTOCOL.md of aws/clock-bound. All numbers are in the order of
// the host. Both versions have the same up to the bound.
const (
	shmVersion    = 12
	shmGeneration = 14
	shmAsOf       = 16 // seconds, nanoseconds of CLOCK_MONOTONIC_COARSE
	shmVoidAfter  = 32
	shmBound      = 48
	shmRest       = 56 // version 1: drift, reserved, status; version 2: marker, drift, status, support
	shmLength1    = 72
	shmLength2    = 80
)

// The magic number is two words.
const (
	magic1 = 0x414D5A4E
	magic2 = 0x43420200
)

var errTooShort = errors.New("too short for the shared memory of clockbound")

// segment is one consistent reading of the shared memory.
type segment struct {
	version          uint16
	generation       uint16
	asOf, voidAfter  time.Duration // on CLOCK_MONOTONIC_COARSE
	bound            time.Duration
	drift            uint32 // ppb
	status           int32
	marker           uint64 // of the last disruption that was seen; version 2
	disruptionsKnown bool   // by a VM clock; version 2
}

// readSegment reads until nothing was written meanwhile: the generation is odd during a
// write, and different after one.
func readSegment(ctx context.Context, from io.ReaderAt) (*segment, error) {
	buf := make([]byte, shmLength2)
	for tries := 0; ctx.Err() == nil; tries++ {
		before, err := generation(from)
		if err != nil {
			return nil, err
		}
		n, err := from.ReadAt(buf, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if !isClockBound(buf[:n]) {
			return nil, errors.New("not the shared memory of clockbound: another magic number")
		}
		after, err := generation(from)
		if err != nil {
			return nil, err
		}
		if before == after && before%2 == 0 && before != 0 {
			return parseSegment(buf[:n])
		}
		if tries > 100 { // far longer than a write takes
			time.Sleep(time.Millisecond)
		}
	}
	return nil, errors.New("its shared memory is never at rest: has clockbound died in the middle of a write?")
}

func generation(from io.ReaderAt) (uint16, error) {
	var b [2]byte
	if _, err := from.ReadAt(b[:], shmGeneration); err != nil {
		return 0, errTooShort
	}
	return binary.NativeEndian.Uint16(b[:]), nil
}

func isClockBound(b []byte) bool {
	return len(b) >= 8 && binary.NativeEndian.Uint32(b) == magic1 && binary.NativeEndian.Uint32(b[4:]) == magic2
}

// parseSegment reads the layout.
func parseSegment(b []byte) (*segment, error) {
	order := binary.NativeEndian
	if len(b) < shmLength1 {
		return nil, errTooShort
	}
	s := &segment{
		version: order.Uint16(b[shmVersion:]), generation: order.Uint16(b[shmGeneration:]),
		bound: time.Duration(order.Uint64(b[shmBound:])),
	}
	rest := b[shmRest:]
	switch {
	case s.version == 1:
		s.drift, s.status = order.Uint32(rest), int32(order.Uint32(rest[8:]))
	case s.version == 2 && len(b) >= shmLength2:
		s.marker, s.drift, s.status = order.Uint64(rest), order.Uint32(rest[8:]), int32(order.Uint32(rest[12:]))
		s.disruptionsKnown = rest[16] == 1
	default:
		return nil, fmt.Errorf("layout version %d in %d bytes: want 1 or 2", s.version, len(b))
	}
	return s, s.parseTimes(b)
}

func (s *segment) parseTimes(b []byte) error {
	var ok1, ok2 bool
	s.asOf, ok1 = timespec(b[shmAsOf:])
	s.voidAfter, ok2 = timespec(b[shmVoidAfter:])
	if !ok1 || !ok2 || s.bound < 0 || s.bound > longest {
		return errors.New("its shared memory holds times that cannot be")
	}
	return nil
}

func timespec(b []byte) (time.Duration, bool) {
	sec, nsec := int64(binary.NativeEndian.Uint64(b)), int64(binary.NativeEndian.Uint64(b[8:]))
	ok := sec >= 0 && sec < int64(longest/time.Second) && nsec >= 0 && nsec < 1e9
	return time.Duration(sec)*time.Second + time.Duration(nsec), ok
}

// Clients trust the status for so long after it was written, and then take the clock to
// run freely until the bound is void (clock-bound-shm, ClockErrorBound::now).
const restartGrace = 5 * time.Second

// fill writes the claim as of now, as ClockBound's own clients reckon it: the bound grows
// by the drift since it was written, the status decays.
func (s *segment) fill(c *datasets.Claim, now time.Duration) {
	age := now - s.asOf
	// The coarse clock steps by a tick, 10 ms at most; earlier than that is another boot.
	if age < -10*time.Millisecond {
		doubt(c, "its bound is dated in the future: the shared memory is of another boot")
	}
	age = max(age, 0)
	c.Age = datasets.Some(age)
	c.Status = s.statusAt(now)
	if s.drift >= 1e9 {
		doubt(c, "its drift is more than one second a second")
	}
	if c.Why == "" && (c.Status == datasets.Synchronised || c.Status == datasets.FreeRunning) {
		c.Bound = datasets.Some(s.boundAt(now))
	}
	addFacts(c, []datasets.Field{
		{Key: "version", Value: integer(s.version)},
		{Key: "generation", Value: integer(s.generation)},
		{Key: "as_of", Value: decimal(s.asOf)},
		{Key: "void_after", Value: decimal(s.voidAfter)},
		{Key: "bound_ns", Value: integer(s.bound)},
		{Key: "max_drift_ppb", Value: integer(s.drift)},
		{Key: "clock_status", Value: integer(s.status)},
	})
	if s.version == 2 {
		c.AddFact("disruption_marker", fmt.Sprint(s.marker))
		c.AddFact("disruptions_known", fmt.Sprint(s.disruptionsKnown))
	}
}

// boundAt is the bound grown to now.
func (s *segment) boundAt(now time.Duration) time.Duration {
	return s.bound + time.Duration(math.Ceil(max(now-s.asOf, 0).Seconds()*float64(s.drift)))
}

func (s *segment) statusAt(now time.Duration) datasets.ClaimStatus {
	fresh := now < s.asOf+restartGrace
	switch {
	case s.status == 3:
		return datasets.Disrupted
	case s.status == 1 && fresh:
		return datasets.Synchronised
	case (s.status == 1 || s.status == 2) && (fresh || now < s.voidAfter):
		return datasets.FreeRunning
	}
	return datasets.Unsynchronised
}

func decimal(d time.Duration) string {
	return fmt.Sprintf("%d.%09d", d/time.Second, d%time.Second)
}
