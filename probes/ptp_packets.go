package probes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/nic"
	"github.com/tickmark/tickmark/probes/stamp"
)

// openPackets opens a capture file, or else taps the interface of that name until the
// plan or ctx ends it.
func (p ptpProbe) openPackets(ctx context.Context, target string, plan Plan) (packets, error) {
	if info, err := os.Stat(target); err == nil && info.Mode().IsRegular() {
		return openCaptured(target)
	}
	if p.stamps != "auto" && p.stamps != "kernel" {
		return nil, fmt.Errorf("stamps=%s: who watches an interface sees departures and arrivals by the kernel alone", p.stamps)
	}
	tap, err := stamp.OpenTap(target)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("watching %s needs root or a right: setcap cap_net_raw+ep on the tickmark binary", target)
	case err != nil:
		return nil, fmt.Errorf("%w (want an interface or a capture file)", err)
	}
	if plan.Duration > 0 {
		if err := tap.SetReadDeadline(time.Now().Add(plan.Duration)); err != nil {
			return nil, errors.Join(err, tap.Close())
		}
	}
	t := &tapped{tap: tap, iface: target, epoch: time.Now(), buf: make([]byte, largestReply)}
	t.letGo = context.AfterFunc(ctx, func() { _ = tap.SetReadDeadline(time.Unix(1, 0)) })
	return t, nil
}

// captured reads a capture file.
type captured struct {
	file *os.File
	*wire.Capture
	first wire.Packet
	held  bool // first is still to be handed out
}

func openCaptured(path string) (packets, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	c, err := wire.OpenCapture(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	from := &captured{file: file, Capture: c}
	from.held = c.Next(&from.first)
	return from, nil
}

func (c *captured) began() time.Time {
	if !c.first.Stamped {
		return time.Now()
	}
	return time.Unix(0, c.first.UnixNanos)
}

func (c *captured) next(p *wire.Packet) bool {
	if c.held {
		*p, c.held = c.first, false
		return true
	}
	return c.Next(p)
}

func (c *captured) facts() []datasets.Field {
	return []datasets.Field{{Key: "local-clock", Value: "the capture's"}}
}

// err is what is wrong with the file. What is whole has been recorded.
func (c *captured) err() error {
	if err := c.Err(); err != nil {
		return fmt.Errorf("ptp: %s: %w", c.file.Name(), err)
	}
	return nil
}

func (c *captured) trailer() []datasets.Field {
	n := c.Counts()
	return []datasets.Field{count("frames", int64(n.Frames)), count("frames-malformed", int64(n.Malformed+n.Fragments+n.Oversized))}
}

func (c *captured) close() error { return c.file.Close() }

// tapped reads what passes an interface.
type tapped struct {
	tap     *stamp.Tap
	iface   string
	buf     []byte
	epoch   time.Time
	letGo   func() bool
	failed  error
	frames  int64
	foreign int64
	dropped uint32
}

func (t *tapped) began() time.Time { return t.epoch }

func (t *tapped) next(p *wire.Packet) bool {
	for {
		f, err := t.tap.Read(t.buf)
		if err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.failed = err // such as an interface that went down
			}
			return false
		}
		t.frames++
		t.dropped = f.Dropped
		*p = wire.Packet{}
		p.UnixNanos, p.Stamped = f.At.UnixNanos()
		if p.ReadEthernet(t.buf[:f.N]) {
			return true
		}
		t.foreign++
	}
}

func (t *tapped) facts() []datasets.Field {
	return append([]datasets.Field{
		{Key: "local-clock", Value: "CLOCK_REALTIME"}, duration(datasets.KeyPrecision, clockPrecision()),
	}, nic.Facts(t.iface)...)
}

func (t *tapped) err() error {
	if t.failed != nil {
		return fmt.Errorf("ptp: %s: %w", t.iface, t.failed)
	}
	return nil
}

func (t *tapped) trailer() []datasets.Field {
	return []datasets.Field{count("frames", t.frames), count("frames-foreign", t.foreign), count("frames-dropped", int64(t.dropped))}
}

func (t *tapped) close() error {
	t.letGo()
	return t.tap.Close()
}
