package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

func timesyncdEntry() Entry {
	return Entry{
		Name:    "timesyncd",
		Summary: "systemd-timesyncd, over D-Bus by the command busctl, or else by the age of its file",
		Places:  []string{""},
		Hint:    "is systemd-timesyncd running? (timedatectl timesync-status)",
		at: func(place string) (Daemon, error) {
			if place != "" {
				return nil, errors.New("timesyncd has no address: it is found on the system bus")
			}
			return &timesyncd{file: "/run/systemd/timesync/synchronized"}, nil
		},
	}
}

// timesyncd is asked on the system bus, where busctl pairs questions and answers.
type timesyncd struct {
	file string // touched by timesyncd whenever it corrects the clock
}

func (*timesyncd) Close() error { return nil }

// Ask makes one claim.
func (d *timesyncd) Ask(ctx context.Context, r *Reading) error {
	properties, err := busProperties(ctx)
	if err == nil {
		return d.claimBus(r, properties)
	}
	if ctx.Err() != nil {
		return errSilent
	}
	info, noFile := os.Stat(d.file)
	switch {
	case errors.Is(noFile, fs.ErrNotExist):
		return fmt.Errorf("%w; nor has it left %s", err, d.file)
	case noFile != nil:
		return fmt.Errorf("%w; %w", err, noFile)
	}
	r.lost = "timesyncd told no more than when it last corrected the clock: " + err.Error()
	c := r.claim("timesyncd", datasets.Synchronised)
	c.Age = sinceWall(c, info.ModTime())
	return nil
}

func (d *timesyncd) claimBus(r *Reading, output []byte) error {
	t, err := decodeTimesync(output)
	if err != nil {
		return err
	}
	c := r.claim("timesyncd", datasets.Unsynchronised)
	t.fill(c)
	if _, err := os.Stat(d.file); err != nil && c.Status == datasets.Synchronised {
		c.Status = datasets.Unsynchronised // it has heard a server, and not followed it yet
	}
	return nil
}

// timesync is what timesyncd publishes, org.freedesktop.timesync1(5). Times are in µs.
type timesync struct {
	message   ntpMessage
	server    string
	address   string
	poll      uint64
	frequency datasets.Optional[int64] // ppm, 16 bits of it behind the point; since systemd 239
}

// ntpMessage is the packet that timesyncd last believed, D-Bus type (uuuuittayttttbtt).
type ntpMessage struct {
	leap, version, mode, stratum        uint32
	precision                           int32
	rootDelay, rootDispersion           uint64
	reference                           string
	origin, receive, transmit, received uint64
	ignored                             bool
	packets, jitter                     uint64
}

// fill writes the claim. The offset is that of the last packet, before the clock was
// corrected by it: the four stamps are in µs, and give RFC 5905's θ. timesyncd claims no
// bound: what timesyncd.conf calls the root distance leaves out the way to the server.
func (t *timesync) fill(c *datasets.Claim) {
	m := &t.message
	c.Reference, c.Stratum, c.Leap = t.address, datasets.Some(int(m.stratum)), datasets.Some(int(m.leap))
	if f, ok := t.frequency.Value(); ok {
		c.Frequency = ppm(float64(f) / 65536)
	}
	if m.packets > 0 && m.received > 0 {
		c.RootDelay, c.RootDispersion = micros(m.rootDelay), micros(m.rootDispersion)
		c.Offset = seconds((float64(int64(m.receive-m.origin)) + float64(int64(m.transmit-m.received))) / 2e6)
		c.Age = sinceWall(c, time.UnixMicro(int64(m.received)))
		if m.leap != 3 {
			c.Status = datasets.Synchronised
		}
		outdate(c, time.Duration(min(t.poll, uint64(longest/time.Microsecond)))*time.Microsecond)
	}
	if m.ignored {
		doubt(c, "timesyncd itself ignored the packet as a spike")
	}
	t.addTo(c)
}

func micros(us uint64) datasets.Optional[time.Duration] { return seconds(float64(us) / 1e6) }

func (t *timesync) addTo(c *datasets.Claim) {
	m := &t.message
	addFacts(c, []datasets.Field{
		{Key: "server", Value: clipped(t.server)},
		{Key: "poll_interval_us", Value: fmt.Sprint(t.poll)},
		{Key: "version", Value: integer(m.version)},
		{Key: "mode", Value: integer(m.mode)},
		{Key: "precision", Value: integer(m.precision)},
		{Key: "reference", Value: m.reference},
		{Key: "origin_us", Value: fmt.Sprint(m.origin)},
		{Key: "receive_us", Value: fmt.Sprint(m.receive)},
		{Key: "transmit_us", Value: fmt.Sprint(m.transmit)},
		{Key: "destination_us", Value: fmt.Sprint(m.received)},
		{Key: "packets", Value: fmt.Sprint(m.packets)},
		{Key: "jitter_us", Value: fmt.Sprint(m.jitter)},
	})
}
