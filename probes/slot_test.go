package probes

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// What is packed comes out as it went in, with every field at random within what a slot
// says it holds.
func TestSlotKeepsAnAttempt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const epoch = 1_800_000_000_000_000_000
	some := func(most int64) int64 { return r.Int64N(most) >> r.IntN(40) }
	for range 10_000 {
		due := datasets.Instant(some(1 << 56))
		want := attempt{
			due: due, sent: due + datasets.Instant(some(1<<47)), answered: due - datasets.Instant(some(1<<47)),
			stall: time.Duration(some(1 << 39)), server: time.Duration(some(1<<39)) - 1, queued: -1,
			t1: epoch + int64(due) + some(1<<47), t2: some(1 << 62), inflight: int32(r.IntN(mostInflight)), copies: int32(r.IntN(256)),
			outcome: datasets.Outcome(r.IntN(6)), left: r.IntN(2) == 0, settled: r.IntN(2) == 0, doubtful: r.IntN(2) == 0, stepped: r.IntN(2) == 0,
		}
		if want.server < 0 {
			want.server = -1
		}
		if r.IntN(2) == 0 {
			want.t4 = epoch + int64(due) - some(1<<47)
		}
		s := pack(&want, epoch)
		if got := s.open(epoch); got != want {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	}
}

// What does not fit becomes the nearest that does.
func TestSlotSaturates(t *testing.T) {
	s := pack(&attempt{sent: 1 << 60, answered: -1 << 60, stall: time.Hour, copies: 1000}, 0)
	got := s.open(0)
	if got.sent != 1<<47-1 || got.answered != -1<<47 || got.stall != unknown40-1 || got.copies != 255 {
		t.Errorf("got %+v", got)
	}
}
