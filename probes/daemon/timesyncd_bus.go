package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

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
