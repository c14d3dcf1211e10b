package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/facebook/time/ntp/chrony"

	"github.com/tickmark/tickmark/datasets"
)

func chronydEntry() Entry {
	return Entry{
		Name:    "chronyd",
		Summary: "chronyd, by its command socket (everything) or UDP port 323 (no ntpdata, no selectdata)",
		Places:  []string{"/run/chrony/chronyd.sock", "/var/run/chrony/chronyd.sock", "127.0.0.1:323", "[::1]:323"},
		Hint:    "is chronyd running? chronyd@ADDRESS names its bindcmdaddress, a socket or HOST:PORT; cmdport 0 closes the port",
		at:      newChronyd,
	}
}

// chronyd is asked in the protocol of chronyc.
type chronyd struct {
	link     link
	sequence uint32
	closed   bool // it has said that some questions are for its unix socket
}

func newChronyd(place string) (Daemon, error) {
	dial, err := dialPlace(place, "323")
	if err != nil {
		return nil, err
	}
	return &chronyd{link: link{dial: dial}, sequence: rand.Uint32()}, nil
}

func (d *chronyd) Close() error { return d.link.close() }

// Ask makes a claim of chronyd and one of each of its sources.
func (d *chronyd) Ask(ctx context.Context, r *Reading) error {
	d.link.strays = 0
	t, err := askChrony[*chrony.ReplyTracking](ctx, d, chrony.NewTrackingPacket())
	if err != nil {
		return err
	}
	c := r.claim("chronyd", "")
	d.track(c, &t.Tracking)
	if err := d.askSources(ctx, r, c, &t.Tracking); err != nil {
		c.AddFact("missing", "sources: "+err.Error())
	}
	if d.closed {
		r.lost = "chronyd over UDP tells neither ntpdata nor selectdata: run as root or as chronyd's user, for its unix socket"
	}
	if d.link.strays > 0 {
		c.AddFact("strays", integer(d.link.strays))
	}
	return nil
}

// askChrony asks one question. An answer that cannot be read is chronyd's, but of no
// chronyd we know.
func askChrony[R chrony.ResponsePacket](ctx context.Context, d *chronyd, p chrony.RequestPacket) (R, error) {
	var none R
	d.sequence++
	request, err := encodeChrony(p, d.sequence)
	if err != nil {
		return none, err
	}
	reply, err := d.link.ask(ctx, request, func(reply []byte) bool { return answersChrony(request, reply) })
	if err != nil {
		return none, err
	}
	return decodeChrony[R](reply)
}

// localReference is the reference id of a chronyd that follows itself (local stratum N).
const localReference = 0x7F7F0101

// track fills the claim from the answer to "tracking". chronyd's frequency is positive
// for a clock that gains, its correction for one that is slow. The bound is that of the
// chronyc manual, "tracking": clock_error <= |system_time| + root_dispersion + root_delay / 2,
// where the dispersion has been grown by chronyd to the moment of its answer.
func (d *chronyd) track(c *datasets.Claim, t *chrony.Tracking) {
	c.Offset = seconds(t.CurrentCorrection)
	c.RootDelay, c.RootDispersion = seconds(t.RootDelay), span(t.RootDispersion)
	c.Frequency, c.Skew = ppm(-t.FreqPPM), ppm(t.SkewPPM)
	c.Stratum, c.Leap = datasets.Some(int(t.Stratum)), datasets.Some(int(t.LeapStatus))
	c.Reference = chrony.RefidToString(t.RefID)
	if t.IPAddr != nil {
		c.Reference = t.IPAddr.String()
	}
	c.AddFact("ref_id", fmt.Sprintf("%08X", t.RefID))
	c.AddFact("ref_time", unixSeconds(t.RefTime))
	c.AddFact("last_offset", single(t.LastOffset))
	c.AddFact("rms_offset", single(t.RMSOffset))
	c.AddFact("resid_freq_ppm", single(t.ResidFreqPPM))
	c.AddFact("last_update_interval", single(t.LastUpdateInterval))
	switch {
	case t.LeapStatus == 3: // RFC 5905: unsynchronised, and then it writes 0 for what it does not know
		c.Status = datasets.Unsynchronised
		c.Offset, c.Skew, c.Stratum = datasets.Optional[time.Duration]{}, datasets.Optional[datasets.PPB]{}, datasets.Optional[int]{}
		return
	case t.RefID == localReference:
		c.Status = datasets.FreeRunning
		return
	}
	c.Status = datasets.Synchronised
	c.Bound = sum(c.Offset, c.RootDispersion, half(c.RootDelay))
	if t.RefTime.Unix() > 0 {
		c.Age = sinceWall(c, t.RefTime)
	}
}

// askSources makes a claim of each source. Sources come and go between two questions;
// one that does is left for the next asking.
func (d *chronyd) askSources(ctx context.Context, r *Reading, main *datasets.Claim, t *chrony.Tracking) error {
	count, err := askChrony[*chrony.ReplySources](ctx, d, chrony.NewSourcesPacket())
	if err != nil {
		return err
	}
	main.AddFact("sources", integer(count.NSources))
	for i := range min(count.NSources, mostSources) {
		if err := d.askSource(ctx, r, main, int32(i), t); err != nil && !errors.Is(err, errChrony(cmdmonNoSource)) {
			return err
		}
	}
	return nil
}

// mostSources is more than anybody has configured.
const mostSources = 256

func (d *chronyd) askSource(ctx context.Context, r *Reading, main *datasets.Claim, i int32, t *chrony.Tracking) error {
	data, err := askChrony[*chrony.ReplySourceData](ctx, d, chrony.NewSourceDataPacket(i))
	if err != nil {
		return err
	}
	stats, err := askChrony[*chrony.ReplySourceStats](ctx, d, chrony.NewSourceStatsPacket(i))
	if err != nil {
		return err
	}
	s := chronySource{data: &data.SourceData, stats: &stats.SourceStats}
	if s.moved() {
		return errChrony(cmdmonNoSource)
	}
	missing := d.askLocal(ctx, &s, i)
	if no := errChrony(0); missing != nil && !errors.As(missing, &no) {
		return missing
	}
	c := r.claim("chronyd "+s.name(), s.status())
	s.fill(c, t)
	if missing != nil {
		c.AddFact("missing", missing.Error())
	}
	if s.data.State == chrony.SourceStateSync {
		outdate(main, pollInterval(int(s.data.Poll)))
	}
	return nil
}

// askLocal asks what chronyd tells its unix socket alone, unless it is configured to
// tell more (opencommands).
func (d *chronyd) askLocal(ctx context.Context, s *chronySource, i int32) error {
	if d.closed {
		return nil
	}
	selected, err := askChrony[*chrony.ReplySelectData](ctx, d, chrony.NewSelectDataPacket(i))
	if errors.Is(err, errChrony(cmdmonUnauth)) {
		d.closed = true
		return nil
	}
	if err != nil {
		return err
	}
	s.selection = &selected.SelectData
	if s.data.Mode == chrony.SourceModeRef || s.data.IPAddr.ToNetIP() == nil {
		return nil // of a clock, or of a name without an address yet, there are no packets
	}
	s.packets, err = d.askPackets(ctx, s.data.IPAddr)
	return err
}

// askPackets asks for "ntpdata", which has a longer form since chrony 4.4.
func (d *chronyd) askPackets(ctx context.Context, of *chrony.IPAddr) (*chrony.NTPData2, error) {
	answer, err := askChrony[chrony.ResponsePacket](ctx, d, chrony.NewNTPDataPacket(of))
	if err != nil {
		return nil, err
	}
	switch a := answer.(type) {
	case *chrony.ReplyNTPData2:
		return &a.NTPData2, nil
	case *chrony.ReplyNTPData:
		return &chrony.NTPData2{NTPData: a.NTPData}, nil
	}
	return nil, fmt.Errorf("a reply of type %d, which this question has not", answer.GetType())
}

// single writes a number of chronyd's, which has 25 significant bits.
func single(f float64) string { return strconv.FormatFloat(f, 'g', 9, 64) }

func unixSeconds(t time.Time) string {
	return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond())
}
