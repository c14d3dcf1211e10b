package daemon

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	ptp "github.com/facebook/time/ptp/protocol"

	"github.com/tickmark/tickmark/datasets"
)

func ptp4lEntry() Entry {
	return Entry{
		Name:    "ptp4l",
		Summary: "ptp4l of linuxptp, by its management socket as pmc does; any domain",
		// linuxptp moved its sockets into a folder of their own after 4.4; those with "ro"
		// answer everybody, since 4.0.
		Places: []string{"/var/run/ptp4l", "/var/run/ptp/ptp4l", "/var/run/ptp4lro", "/var/run/ptp/ptp4lro"},
		Hint:   "is ptp4l running? its sockets are root's: ptp4l@PATH names its uds_address or uds_ro_address",
		at:     newPtp4l,
	}
}

// ptp4l is asked in PTP's own management messages.
type ptp4l struct{ manager }

func newPtp4l(place string) (Daemon, error) {
	if !strings.HasPrefix(place, "/") {
		return nil, fmt.Errorf("%q: want the absolute path of a socket", place)
	}
	// The identity is drawn, so that an answer to another program's question is none to ours.
	self := ptp.PortIdentity{ClockIdentity: ptp.ClockIdentity(rand.Uint64()), PortNumber: uint16(rand.Uint32())}
	return &ptp4l{manager{link: link{dial: dialUnix(place)}, self: self, sequence: uint16(rand.Uint32())}}, nil
}

func (d *ptp4l) Close() error { return d.link.close() }

// Ask makes a claim of ptp4l and one of each of its ports.
func (d *ptp4l) Ask(ctx context.Context, r *Reading) error {
	d.link.strays = 0
	if err := d.find(ctx); err != nil {
		return err
	}
	d.link.strays = 0 // of a search, all are
	own, err := get[ptp.DefaultDataSetTLV](ctx, &d.manager, ptp.IDDefaultDataSet, ptp.DefaultTargetPortIdentity)
	if err != nil {
		return err
	}
	s := ptpState{own: own}
	if err := d.askClock(ctx, &s); err != nil {
		return err
	}
	c := r.claim("ptp4l", "")
	missing := d.askPorts(ctx, r, &s)
	s.fill(c)
	if missing != nil {
		c.AddFact("missing", "ports: "+missing.Error())
	}
	if d.link.strays > 0 {
		c.AddFact("strays", integer(d.link.strays))
	}
	return nil
}

// ptpState is what one ptp4l said of its clock.
type ptpState struct {
	own     *ptp.DefaultDataSetTLV
	current *ptp.CurrentDataSetTLV
	parent  *ptp.ParentDataSetTLV
	scale   *timeProperties
	status  *ptp.TimeStatusNPTLV
	states  []ptp.PortState
	stamps  []ptp.Timestamping // of the ports, as far as they tell
}

func (d *ptp4l) askClock(ctx context.Context, s *ptpState) (err error) {
	everyone := ptp.DefaultTargetPortIdentity
	if s.current, err = get[ptp.CurrentDataSetTLV](ctx, &d.manager, ptp.IDCurrentDataSet, everyone); err != nil {
		return err
	}
	if s.parent, err = get[ptp.ParentDataSetTLV](ctx, &d.manager, ptp.IDParentDataSet, everyone); err != nil {
		return err
	}
	if s.scale, err = get[timeProperties](ctx, &d.manager, idTimeProperties, everyone); err != nil {
		return err
	}
	s.status, err = get[ptp.TimeStatusNPTLV](ctx, &d.manager, ptp.IDTimeStatusNP, everyone)
	return err
}

// mostPorts is more than any switch has.
const mostPorts = 1024

func (d *ptp4l) askPorts(ctx context.Context, r *Reading, s *ptpState) error {
	for n := range min(s.own.NumberPorts, mostPorts) {
		port := ptp.PortIdentity{ClockIdentity: s.own.ClockIdentity, PortNumber: n + 1}
		set, err := get[portDataSet](ctx, &d.manager, idPortDataSet, port)
		if err != nil {
			return err
		}
		s.states = append(s.states, set.PortState)
		c := r.claim(fmt.Sprintf("ptp4l port %d", n+1), portStatus(set.PortState))
		addPort(c, set)
		if err := d.askPortExtras(ctx, c, s, port); err != nil {
			return err
		}
	}
	return nil
}

// askPortExtras asks for what is ptp4l's own and not every version has.
func (d *ptp4l) askPortExtras(ctx context.Context, c *datasets.Claim, s *ptpState, port ptp.PortIdentity) error {
	stats, err1 := get[ptp.PortStatsNPTLV](ctx, &d.manager, ptp.IDPortStatsNP, port)
	if err1 == nil {
		addCounts(c, &stats.PortStats)
	}
	properties, err2 := get[ptp.PortPropertiesNPTLV](ctx, &d.manager, ptp.IDPortPropertiesNP, port)
	if err2 == nil {
		s.stamps = append(s.stamps, properties.Timestamping)
		addProperties(c, properties)
	}
	for _, err := range []error{err1, err2} {
		if no := (errManagement{}); err != nil && !errors.As(err, &no) {
			return err
		}
	}
	return nil
}

// fill writes the claim. ptp4l's offset is that of its clock from the master's: positive
// for one that is fast. It claims no bound: the path's asymmetry is unknown to it, and
// the master's own accuracy, which is among the facts, is the master's claim.
func (s *ptpState) fill(c *datasets.Claim) {
	c.Status = s.clockStatus(c)
	c.Reference = s.parent.GrandmasterIdentity.String()
	c.Leap = datasets.Some(s.scale.leap())
	if s.status.GMPresent != 0 && s.status.MasterOffsetNS != math.MinInt64 {
		c.Offset = seconds(-float64(s.status.MasterOffsetNS) / 1e9)
		doubtTAI(c)
	}
	if s.software() && s.status.IngressTimeNS > 0 {
		c.Age = sinceWall(c, time.Unix(0, s.status.IngressTimeNS))
	}
	s.addOwn(c)
	s.addParent(c)
	s.addScale(c)
	s.addStatus(c)
}

// software reports whether every port is known to stamp by the system clock: only then
// can the time of the last Sync be told from it.
func (s *ptpState) software() bool {
	for _, stamping := range s.stamps {
		if stamping != ptp.TimestampingSoftware {
			return false
		}
	}
	return len(s.stamps) > 0 && len(s.stamps) == len(s.states)
}

// clockStatus is that of the port towards the master; without a master, a clock that is
// one itself follows nobody. A master whose class says so is in holdover itself, or has
// left it (IEEE 1588-2019 table 4).
func (s *ptpState) clockStatus(c *datasets.Claim) datasets.ClaimStatus {
	switch {
	case slices.Contains(s.states, ptp.PortStateSlave):
		return s.masterStatus(c)
	case s.status.GMPresent == 0 && slices.ContainsFunc(s.states, isMaster):
		return datasets.FreeRunning
	}
	return datasets.Unsynchronised
}

func (s *ptpState) masterStatus(c *datasets.Claim) datasets.ClaimStatus {
	switch s.parent.GrandmasterClockQuality.ClockClass {
	case 7, 14:
		return datasets.Holdover
	case 52, 58, 187, 193:
		doubt(c, "the grandmaster is out of its holdover specification")
		return datasets.Unsynchronised
	default:
		return datasets.Synchronised
	}
}

func isMaster(s ptp.PortState) bool {
	return s == ptp.PortStateMaster || s == ptp.PortStateGrandMaster
}

// portStatus is what the state of a port means for the clock behind it.
func portStatus(state ptp.PortState) datasets.ClaimStatus {
	switch {
	case state == ptp.PortStateSlave:
		return datasets.Synchronised
	case isMaster(state):
		return datasets.FreeRunning
	case state == ptp.PortStateFaulty || state == ptp.PortStateDisabled:
		return datasets.Unreachable
	}
	return datasets.Unsynchronised // uncalibrated, listening, passive, …
}

func (t *timeProperties) leap() int {
	switch {
	case t.Flags&flagLeap61 != 0:
		return 1
	case t.Flags&flagLeap59 != 0:
		return 2
	}
	return 0
}

// doubtTAI notes an offset that looks like one of TAI, which is ahead of UTC by whole
// seconds, 37 of them since 2017.
func doubtTAI(c *datasets.Claim) {
	offset, _ := c.Offset.Value()
	whole := offset.Abs().Round(time.Second)
	if whole >= 30*time.Second && whole <= 40*time.Second && (offset.Abs()-whole).Abs() < 100*time.Millisecond {
		doubt(c, "the offset looks like TAI against UTC")
	}
}
