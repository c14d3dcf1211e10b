package datasets

import "time"

// Instant is a point on the monotonic clock of one trace: the time since its
// Epoch, which is the instant zero. Instants of two traces are not comparable.
type Instant time.Duration

// Sub returns t − u.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// Add returns the instant d after t.
func (t Instant) Add(d time.Duration) Instant { return t + Instant(d) }
