package daemon

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/facebook/time/ntp/control"

	"github.com/tickmark/tickmark/datasets"
)

func ntpdEntry() Entry {
	return Entry{
		Name:    "ntpd",
		Summary: "ntpd of ntp.org or NTPsec, by mode 6 as ntpq does",
		Places:  []string{"127.0.0.1:123", "[::1]:123"},
		Hint:    "is ntpd running, and does no restrict line with noquery or ignore keep this host off? ntpd@HOST:PORT names another",
		at:      newNtpd,
	}
}

// ntpd is asked in the protocol of ntpq.
type ntpd struct {
	link     link
	sequence uint16
}

func newNtpd(place string) (Daemon, error) {
	if strings.HasPrefix(place, "/") {
		return nil, fmt.Errorf("%q: want HOST or HOST:PORT", place)
	}
	dial, err := dialPlace(place, "123")
	if err != nil {
		return nil, err
	}
	return &ntpd{link: link{dial: dial}, sequence: uint16(rand.Uint32())}, nil
}

func (d *ntpd) Close() error { return d.link.close() }

func (d *ntpd) ask(ctx context.Context, op uint8, association uint16) (controlAnswer, error) {
	d.sequence++
	return askControl(ctx, &d.link, op, association, d.sequence)
}

// Ask makes a claim of ntpd and one of each of its associations.
func (d *ntpd) Ask(ctx context.Context, r *Reading) error {
	d.link.strays = 0
	a, err := d.ask(ctx, control.OpReadVariables, 0)
	if err != nil {
		return err
	}
	c := r.claim("ntpd", "")
	claimSystem(c, a)
	if err := d.askAssociations(ctx, r); err != nil {
		c.AddFact("missing", "associations: "+err.Error())
	}
	if d.link.strays > 0 {
		c.AddFact("strays", integer(d.link.strays))
	}
	return nil
}

func (d *ntpd) askAssociations(ctx context.Context, r *Reading) error {
	list, err := d.ask(ctx, control.OpReadStatus, 0)
	if err != nil {
		return err
	}
	for _, id := range associations(list.data) {
		a, err := d.ask(ctx, control.OpReadVariables, id)
		if err != nil {
			return err
		}
		claimPeer(r, a)
	}
	return nil
}

// associations reads the identifiers out of a list of them with their status words.
func associations(data []byte) []uint16 {
	var ids []uint16
	for ; len(data) >= 4 && len(ids) < mostSources; data = data[4:] {
		if id := binary.BigEndian.Uint16(data); id != 0 { // 0 is ntpd itself
			ids = append(ids, id)
		}
	}
	return ids
}

// claimSystem fills the claim from ntpd's own variables. Its offset has the sign of
// RFC 5905; its frequency is the correction of a clock that loses when positive; both
// are in thousandths (ms, ppm). The bound is what ntpd hands to the kernel as maxerror:
// rootdelay / 2 + rootdisp, the dispersion having |offset| and the jitter in it
// (RFC 5905 §11.2.3 and A.5.5.4), grown by 15 ppm since its update (RFC 5905, PHI).
func claimSystem(c *datasets.Claim, a controlAnswer) {
	v := numbers{variables(a.data)}
	c.Offset = v.millis("offset")
	c.RootDelay, c.RootDispersion = v.millis("rootdelay"), notNegative(v.millis("rootdisp"))
	c.Frequency = v.ppm("frequency")
	c.Stratum, c.Leap = v.integer("stratum", 16), v.leap()
	c.Reference = v.text("refid")
	c.Age = v.between("reftime", "clock")
	c.Status = systemStatus(control.ReadSystemStatusWord(a.status), c, v.text("peer"))
	if c.Status == datasets.Synchronised || c.Status == datasets.Holdover {
		c.Bound = sum(half(c.RootDelay), c.RootDispersion, drifted(c.Age))
		if tc, ok := v.integer("tc", 24).Value(); ok {
			outdate(c, pollInterval(tc))
		}
	}
	v.addTo(c)
}

// localClock is how a system status word says that ntpd follows its own clock.
const localClock = 5

// systemStatus reads ntpd's state. It goes on calling itself synchronised when it has no
// peer any more, and as an orphan it is its own reference.
func systemStatus(word *control.SystemStatusWord, c *datasets.Claim, peer string) datasets.ClaimStatus {
	stratum, known := c.Stratum.Value()
	_, updated := c.Age.Value()
	switch {
	case word.LI == 3 || (known && stratum >= 16):
		return datasets.Unsynchronised
	case word.ClockSource == localClock || ownReference(c.Reference) || (peer == "0" && !updated):
		return datasets.FreeRunning
	case peer == "0":
		return datasets.Holdover
	}
	return datasets.Synchronised
}

// ownReference reports whether a reference id is that of the local clock's driver, or of
// an orphan.
func ownReference(id string) bool {
	return strings.HasPrefix(id, "127.127.1.") || strings.HasPrefix(id, "127.0.0.") || strings.HasPrefix(id, "LOCAL") || id == "LOCL"
}

// claimPeer makes the claim of one association. Its bound is its root distance (RFC 5905
// A.5.5.2, without the floor of its delay) around its offset.
func claimPeer(r *Reading, a controlAnswer) {
	v := numbers{variables(a.data)}
	word := control.ReadPeerStatusWord(a.status)
	c := r.claim("ntpd "+v.text("srcadr"), peerStatus(word.PeerSelection, v.text("reach")))
	c.Stratum, c.Leap = v.integer("stratum", 16), v.leap()
	c.RootDelay, c.RootDispersion = v.millis("rootdelay"), notNegative(v.millis("rootdisp"))
	c.Reference = v.text("refid")
	if c.Status != datasets.Unreachable {
		c.Offset = v.millis("offset")
		path := half(sum(c.RootDelay, v.millis("delay")))
		c.Bound = sum(c.Offset, path, c.RootDispersion, v.millis("dispersion"), v.millis("jitter"))
	}
	c.AddFact("select", control.PeerSelect[word.PeerSelection])
	v.addTo(c)
}

func peerStatus(selection uint8, reach string) datasets.ClaimStatus {
	switch selection {
	case control.SelSYSPeer, control.SelPPSPeer, control.SelCandidate: // combined
		return datasets.Selected
	case control.SelBackup, control.SelOutlier, control.SelExcess:
		return datasets.Candidate
	case control.SelFalseTick:
		return datasets.Falseticker
	}
	if strings.Trim(reach, "0x") == "" {
		return datasets.Unreachable
	}
	return datasets.Rejected
}

// drifted is how far a clock that nobody corrected may have gone since, at RFC 5905's
// PHI of 15 ppm.
func drifted(age datasets.Optional[time.Duration]) datasets.Optional[time.Duration] {
	d, ok := age.Value()
	if !ok {
		return datasets.Some(time.Duration(0))
	}
	return datasets.Some(time.Duration(math.Ceil(float64(d) * 15e-6)))
}

func notNegative(d datasets.Optional[time.Duration]) datasets.Optional[time.Duration] {
	if v, ok := d.Value(); ok && v < 0 {
		return datasets.Optional[time.Duration]{}
	}
	return d
}
