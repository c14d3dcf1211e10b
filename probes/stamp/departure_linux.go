package stamp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
)

// departures reads what the kernel's error queue says of packets that have left, and
// remembers it until it is asked for.
type departures struct {
	socket *socket
	flags  int

	mu    sync.Mutex // guards what follows
	first uint32     // our number of the packet that the kernel numbers 0
	queue vector
	seen  [MostRemembered]departed
}

// departed is what one message of the error queue says.
type departed struct {
	number   uint32 // the kernel's, and ours once it is remembered
	numbered bool
	soft     int64 // CLOCK_REALTIME, 0 if not stamped
	hard     int64 // the NIC's clock, 0 if not stamped
}

// prepareDepartures asks for numbered stamps without the packet (OPT_TSONLY), for
// which even an unprivileged program may ask.
func (c *Conn) prepareDepartures(source datasets.Source) error {
	if err := c.use(); err != nil {
		return err
	}
	defer c.life.RUnlock()
	d := &departures{socket: &c.socket, first: c.sent}
	d.flags = unix.SOF_TIMESTAMPING_SOFTWARE | unix.SOF_TIMESTAMPING_RX_SOFTWARE |
		unix.SOF_TIMESTAMPING_OPT_ID | unix.SOF_TIMESTAMPING_OPT_TSONLY | unix.SOF_TIMESTAMPING_OPT_CMSG
	if source == datasets.Hardware {
		d.flags |= unix.SOF_TIMESTAMPING_TX_HARDWARE | unix.SOF_TIMESTAMPING_RX_HARDWARE | unix.SOF_TIMESTAMPING_RAW_HARDWARE
	} else {
		d.flags |= unix.SOF_TIMESTAMPING_TX_SOFTWARE
	}
	if err := d.set(d.flags); err != nil {
		return fmt.Errorf("%s stamps of departures: %w", source, err)
	}
	d.queue.grow(perReading)
	for i := range d.queue.headers {
		d.queue.headers[i].SetIovlen(0) // the packet itself is not in it
	}
	c.departures = d
	// With both options the kernel makes up a software stamp where it has none.
	_ = c.set(unix.SO_TIMESTAMPNS_NEW, 0)
	_ = c.set(unix.SO_TIMESTAMPNS_OLD, 0)
	return nil
}

func (d *departures) set(flags int) error {
	return d.socket.setNewer(unix.SO_TIMESTAMPING_NEW, unix.SO_TIMESTAMPING_OLD, flags)
}

// renumber has the kernel number from 0 again, which it does whenever OPT_ID is
// switched on. What the queue holds until then is of the old numbers.
func (c *Conn) renumber() {
	if c.use() != nil {
		return
	}
	defer c.life.RUnlock()
	d := c.departures
	_ = d.set(d.flags &^ unix.SOF_TIMESTAMPING_OPT_ID)
	d.drain()
	_ = d.set(d.flags)
	d.mu.Lock()
	d.first = c.sent
	d.mu.Unlock()
}

// drain takes what the kernel has, lest it take up room.
func (c *Conn) drain() {
	if c.use() == nil {
		c.departures.drain()
		c.life.RUnlock()
	}
}

// perReading is how many messages are read off the error queue in one system call.
const perReading = 16

// drain reads off all that the error queue holds, and is false if that was nothing.
func (d *departures) drain() (some bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for n := perReading; n == perReading; {
		n, _ = d.queue.read(d.socket.fd, perReading, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		for i := range n {
			some = true
			if at := parseDeparted(d.queue.control(i)); at.numbered {
				at.number += d.first
				d.seen[at.number%MostRemembered] = at
			}
		}
	}
	return some
}

// of returns what is known of the packet of that number.
func (d *departures) of(number uint32) (departed, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.seen[number%MostRemembered]
	return at, at.numbered && at.number == number
}

// lookAgain is how long is waited at most before the stamps that have come are looked
// through: one that a Read has taken from the kernel meanwhile wakes nobody else.
const lookAgain = 500 * time.Microsecond

func (c *Conn) departure(number uint32, until time.Time) (datasets.Stamp, error) {
	if err := c.use(); err != nil {
		return datasets.Stamp{}, err
	}
	defer c.life.RUnlock()
	for {
		late := !time.Now().Before(until)
		at, ok := c.departures.of(number)
		if !ok {
			c.departures.drain() // if it finds nothing, a Read may have found it just before
			at, ok = c.departures.of(number)
		}
		switch {
		case ok:
			return at.stamp(c.source)
		case late:
			return datasets.Stamp{}, ErrNoStamp
		}
		if err := c.awaitDeparture(until); err != nil {
			return datasets.Stamp{}, err
		}
	}
}

// awaitDeparture waits until there may be a stamp, not beyond until.
func (c *Conn) awaitDeparture(until time.Time) error {
	began := time.Now()
	if again := began.Add(lookAgain); again.Before(until) {
		until = again
	}
	err := c.wait(0, until)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	case err == nil && time.Since(began) < lookAgain/2:
		// What the socket has to tell is no stamp: the next read or write will be told.
		time.Sleep(min(lookAgain, time.Until(until)))
	}
	return err
}

// parseDeparted reads the control messages of one message of the error queue. What
// is no stamp, such as an ICMP error, has no number.
func parseDeparted(b []byte) departed {
	var d departed
	for len(b) >= unix.SizeofCmsghdr {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			break
		}
		b = rest
		switch {
		case h.Level == unix.SOL_SOCKET && (h.Type == unix.SO_TIMESTAMPING_NEW || h.Type == unix.SO_TIMESTAMPING_OLD):
			d.soft, d.hard = parseStamps(data)
		case h.Level == unix.SOL_IP && h.Type == unix.IP_RECVERR, h.Level == unix.SOL_IPV6 && h.Type == unix.IPV6_RECVERR:
			d.number, d.numbered = parseNumber(data)
		}
	}
	return d
}

// parseNumber reads a struct sock_extended_err, whose data is the packet's number if
// it comes from time-stamping.
func parseNumber(b []byte) (number uint32, ok bool) {
	const origin, kind, data, size = 4, 8, 12, 16
	if len(b) < size || b[origin] != unix.SO_EE_ORIGIN_TIMESTAMPING {
		return 0, false
	}
	if binary.NativeEndian.Uint32(b[kind:]) != tstampSend {
		return 0, false
	}
	return binary.NativeEndian.Uint32(b[data:]), true
}

// tstampSend is SCM_TSTAMP_SND of linux/errqueue.h: the packet was sent, not queued.
const tstampSend = 0

// parseStamps reads a struct scm_timestamping: three times of which the second is no
// longer used. One that is not set is 0.
func parseStamps(b []byte) (soft, hard int64) {
	size := len(b) / 3
	if len(b)%3 != 0 {
		return 0, 0
	}
	soft, _ = parseTimespec(b[:size])
	hard, _ = parseTimespec(b[2*size:])
	return soft, hard
}

// stamp is what source noted.
func (d *departed) stamp(source datasets.Source) (datasets.Stamp, error) {
	nanos := d.soft
	if source == datasets.Hardware {
		nanos = d.hard
	}
	if nanos == 0 {
		return datasets.Stamp{}, ErrNoStamp
	}
	return datasets.NewStamp(nanos, datasets.Local, source), nil
}
