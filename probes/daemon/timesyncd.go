package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"strings"
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
		return errors.Join(err, noFile)
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

// busProperties asks for everything that timesyncd publishes. The bus must not start a
// timesyncd that is not running: it would set the clock.
func busProperties(ctx context.Context) ([]byte, error) {
	path, err := exec.LookPath("busctl")
	if err != nil {
		return nil, errors.New("the command busctl is not there")
	}
	cmd := exec.CommandContext(ctx, path, "--system", "--auto-start=no", "--json=short", "call", "org.freedesktop.timesync1",
		"/org/freedesktop/timesync1", "org.freedesktop.DBus.Properties", "GetAll", "s", "org.freedesktop.timesync1.Manager")
	cmd.WaitDelay = 100 * time.Millisecond
	out, complaint := &limited{left: largest}, &limited{left: longestValue}
	cmd.Stdout, cmd.Stderr = out, complaint
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
		return nil, fmt.Errorf("busctl: %s", lowerFirst(line))
	}
	return out.Bytes(), nil
}

// limited keeps the beginning of what a command writes.
type limited struct {
	bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	keep := p[:min(len(p), l.left)]
	l.left -= len(keep)
	l.Buffer.Write(keep)
	return len(p), nil
}

func lowerFirst(text string) string {
	if text == "" {
		return "no answer"
	}
	return strings.ToLower(text[:1]) + text[1:]
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

// variant is how busctl writes a value.
type variant struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

func decodeTimesync(output []byte) (*timesync, error) {
	var reply struct {
		Data []map[string]variant `json:"data"`
	}
	if err := json.Unmarshal(output, &reply); err != nil {
		return nil, fmt.Errorf("busctl: not the JSON of an answer: %w", err)
	}
	if len(reply.Data) != 1 || reply.Data[0]["NTPMessage"].Data == nil {
		return nil, errors.New("busctl: an answer without NTPMessage")
	}
	p := reply.Data[0]
	t := &timesync{}
	if err := t.message.decode(p["NTPMessage"].Data); err != nil {
		return nil, fmt.Errorf("busctl: NTPMessage: %w", err)
	}
	// The others may be missing, and are then empty.
	_ = json.Unmarshal(p["ServerName"].Data, &t.server)
	_ = json.Unmarshal(p["PollIntervalUSec"].Data, &t.poll)
	t.address = busAddress(p["ServerAddress"].Data)
	var frequency int64
	if json.Unmarshal(p["Frequency"].Data, &frequency) == nil {
		t.frequency = datasets.Some(frequency)
	}
	return t, nil
}

func (m *ntpMessage) decode(data json.RawMessage) error {
	var reference []uint16 // a []byte would be read as base64
	cells := []any{
		&m.leap, &m.version, &m.mode, &m.stratum, &m.precision, &m.rootDelay, &m.rootDispersion, &reference,
		&m.origin, &m.receive, &m.transmit, &m.received, &m.ignored, &m.packets, &m.jitter,
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if len(raw) != len(cells) {
		return fmt.Errorf("%d fields, want %d", len(raw), len(cells))
	}
	for i, cell := range cells {
		if err := json.Unmarshal(raw[i], cell); err != nil {
			return err
		}
	}
	for _, b := range reference[:min(len(reference), 4)] {
		m.reference += fmt.Sprintf("%02X", b)
	}
	return nil
}

// busAddress reads (iay): a family, and the bytes of an address.
func busAddress(data json.RawMessage) string {
	var pair []json.RawMessage
	var octets []uint16
	if json.Unmarshal(data, &pair) != nil || len(pair) != 2 || json.Unmarshal(pair[1], &octets) != nil {
		return ""
	}
	var b []byte
	for _, o := range octets {
		b = append(b, byte(o))
	}
	a, ok := netip.AddrFromSlice(b)
	if !ok {
		return ""
	}
	return a.String()
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
