package gen

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// World is everything that becomes of calls. The zero value of a part leaves it out.
type World struct {
	Latency Latency
	// Memory is the autocorrelation of one call's latency with the next one's, made normal
	// (AR(1)); Hurst, from 0.5 to 1, that of a long memory instead.
	Memory, Hurst float64

	Pauses Pauses

	Loss  float64 // share of calls without an answer
	Burst float64 // mean length of a run of them (Gilbert–Elliott); at least 1

	Swing  float64       // the level goes up and down by this share of it
	Period time.Duration // in this time

	RouteAt, RouteBy time.Duration // from then on each call takes so much longer

	// Before GST a call may take until then; after it, none takes longer than Delta
	// (Dwork, Lynch and Stockmeyer 1988).
	GST, Delta time.Duration

	Seed uint64
}

func (w *World) check() error {
	for _, rule := range w.rules() {
		if rule.broken {
			return errors.New(rule.msg)
		}
	}
	return w.Pauses.check()
}

// rule is what a world must not be.
type rule struct {
	broken bool
	msg    string
}

func (w *World) rules() []rule { //nolint:cyclop // one line a rule
	return []rule{
		{w.Latency == nil, "no latency"},
		{w.Memory < 0 || w.Memory >= 1, "memory must be from 0 to below 1"},
		{w.Hurst != 0 && (w.Hurst <= 0.5 || w.Hurst >= 1), "hurst must be between 0.5 and 1"},
		{w.Memory > 0 && w.Hurst > 0, "memory and hurst are two ways: want one of them"},
		{w.Loss < 0 || w.Loss >= 1, "loss must be from 0 to below 1"},
		{w.Loss > 0 && w.Burst < 1, "burst must be at least 1"},
		{w.Loss/(1-w.Loss) > w.Burst, "as much loss needs longer runs: want a greater burst"},
		{w.Swing < 0 || w.Swing >= 1 || w.Swing > 0 && w.Period <= 0, "swing must be from 0 to below 1, with a period"},
		{w.GST < 0 || w.GST > 0 && w.Delta <= 0, "gst must be positive, with a delta"},
		{w.RouteAt < 0 || w.RouteBy < 0, "the route changes later, and gets longer: want positive times"},
	}
}

// Calls makes one call after the other.
type Calls struct {
	World
	chain Chain
	stops *stops
	loss  *rand.Rand
	early *rand.Rand
	bad   bool // in a run of losses
}

// New returns the calls of a world. Each part has random numbers of its own, so that
// leaving one out changes nothing of the others.
func (w World) New() (*Calls, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	part := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(w.Seed, n)) } //nolint:gosec // not for secrets
	c := &Calls{World: w, stops: &stops{Pauses: w.Pauses, r: part(2)}, loss: part(3), early: part(4)}
	switch r := part(1); {
	case w.Hurst > 0:
		c.chain = newLongMemory(r, w.Hurst)
	case w.Memory > 0:
		c.chain = newAR1(r, w.Memory)
	default:
		c.chain = independent{r}
	}
	return c, nil
}

// Next returns how long the call takes that is due then, and false if it is never
// answered. Calls must be asked for in the order of their time.
func (c *Calls) Next(due time.Duration) (time.Duration, bool) {
	seconds := c.Latency.Quantile(c.chain.Next())
	if c.Swing > 0 {
		seconds *= 1 + c.Swing*math.Sin(2*math.Pi*due.Seconds()/c.Period.Seconds())
	}
	const most = 1e6 // a tail without a mean has days in it
	service := time.Duration(min(seconds, most) * 1e9)
	if c.RouteBy > 0 && due >= c.RouteAt {
		service += c.RouteBy
	}
	if c.GST > 0 {
		service = c.unbounded(due, service)
	}
	return c.stops.held(due, service) - due, !c.lost()
}

// unbounded lets half of the calls before GST take until some time up to it.
func (c *Calls) unbounded(due, service time.Duration) time.Duration {
	if due >= c.GST {
		return min(service, c.Delta)
	}
	if c.early.Float64() < 0.5 {
		return service + time.Duration(c.early.Float64()*float64(c.GST-due))
	}
	return service
}

// lost goes on in the chain of two states of Gilbert and Elliott: nothing is lost in the
// good one and everything in the bad one, whose mean length is Burst and whose share Loss.
func (c *Calls) lost() bool {
	if c.Loss == 0 {
		return false
	}
	u := c.loss.Float64()
	if c.bad {
		c.bad = u >= 1/c.Burst
	} else {
		c.bad = u < c.Loss/(1-c.Loss)/c.Burst
	}
	return c.bad
}

// Fact is one thing that is true of a world.
type Fact struct{ Key, Value string }

// Truth is what is true of the calls, as header fields: quantiles of the latency before
// anything is done to it, in closed form.
func (w *World) Truth() []Fact {
	var fields []Fact
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999, 0.9999} {
		fields = append(fields, Fact{Key: fmt.Sprintf("truth-p%s", quantileDigits(q)), Value: time.Duration(w.Latency.Quantile(q) * 1e9).String()})
	}
	add := func(key, format string, args ...any) {
		fields = append(fields, Fact{Key: "truth-" + key, Value: fmt.Sprintf(format, args...)})
	}
	if w.Pauses.Kind != "none" && w.Pauses.Kind != "" {
		add("pauses", "%s, %v every %v; arrivals wait for the end, and what is being served is held", w.Pauses.Kind, w.Pauses.Length, w.Pauses.Every)
	}
	if w.Loss > 0 {
		add("loss", "%g in runs of %g", w.Loss, w.Burst)
	}
	if w.RouteBy > 0 {
		add("route-change", "%v longer from %v on", w.RouteBy, w.RouteAt)
	}
	if w.GST > 0 {
		add("gst", "%v; at most %v after it", w.GST, w.Delta)
	}
	if w.Swing > 0 {
		add("level", "%g up and down in %v", w.Swing, w.Period)
	}
	return fields
}

func quantileDigits(q float64) string {
	return fmt.Sprintf("%v", math.Round(q*1e6)/1e4)
}
