package daemon

import (
	"context"
	"errors"
	"fmt"
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
		return errors.New("not a file that is mapped")
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
