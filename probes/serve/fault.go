package serve

import (
	"errors"
	"flag"
	"math/rand/v2"

	"github.com/tickmark/tickmark/datasets/spec"
)

// Fault is one way in which a server misbehaves. It holds no state: the same
// fault may serve several servers.
type Fault interface {
	// afflict adds the fault to what happens to one exchange. The generator is the
	// fault's own: its decisions depend on the seed and the exchange's number alone.
	afflict(t *treatment, rng *rand.Rand)
}

// Faults lists what can be made to go wrong.
func Faults() spec.Table[Fault] {
	return spec.Table[Fault]{
		{Name: "offset", Summary: "the server's wall clock is off by a constant", Bind: bindOffset},
		{Name: "drift", Summary: "the server's wall clock runs fast or slow", Bind: bindDrift},
		{Name: "delay", Summary: "the path takes longer, each direction for itself", Bind: bindDelay},
		{Name: "loss", Summary: "a share of the requests gets no reply", Bind: bindLoss},
		{Name: "duplicate", Summary: "a share of the replies comes more than once", Bind: bindDuplicate},
		{Name: "reorder", Summary: "a share of the replies is overtaken by later ones", Bind: bindReorder},
		{Name: "freeze", Summary: "the server stops reading for a while, again and again", Bind: bindFreeze},
		{Name: "kiss", Summary: "NTP: kiss-o'-death instead of time (RFC 5905, 7.4)", Bind: bindKiss},
		{Name: "dispersion", Summary: "NTP: root dispersion and root delay are made up", Bind: bindDispersion},
		{Name: "t3-before-t2", Summary: "the transmit stamp alone is off", Bind: bindTransmit},
		{Name: "wrong-origin", Summary: "the reply names a request that was not sent", Bind: bindOrigin},
		{Name: "short", Summary: "the reply is cut off", Bind: bindShort},
		{Name: "oversized", Summary: "the reply is padded with zeros", Bind: bindOversized},
	}
}

// share declares the share of exchanges that a fault befalls.
func share(fs *flag.FlagSet, value float64) *float64 {
	return spec.Ratio(fs, "share", value, "the `share` of exchanges it befalls")
}

func checkShare(s float64) error {
	if s < 0 || s > 1 {
		return errors.New("share must be between 0% and 100%")
	}
	return nil
}

// befalls draws whether an exchange is one of the share.
func befalls(share float64, rng *rand.Rand) bool { return rng.Float64() < share }
