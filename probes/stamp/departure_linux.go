package stamp

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
)

// departures reads what the kernel's error queue says of packets that have left.
type departures struct {
	raw   syscall.RawConn
	flags int
	first uint32 // our number of the packet that the kernel numbers 0

	// One reading of the error queue, kept here so that it allocates nothing.
	once    func(fd uintptr)
	header  unix.Msghdr
	control [256]byte
	got     departed
	failed  error
}

// departed is what one message of the error queue says.
type departed struct {
	number    uint32 // the kernel's
	numbered  bool
	soft      int64 // CLOCK_REALTIME, 0 if not stamped
	hard      int64 // the NIC's clock, 0 if not stamped
	something bool
}

// prepareDepartures asks for numbered stamps without the packet (OPT_TSONLY), for
// which even an unprivileged program may ask.
func (c *Conn) prepareDepartures(source datasets.Source) error {
	raw, err := c.udp.SyscallConn()
	if err != nil {
		return err
	}
	d := &departures{raw: raw}
	d.flags = unix.SOF_TIMESTAMPING_SOFTWARE | unix.SOF_TIMESTAMPING_RX_SOFTWARE |
		unix.SOF_TIMESTAMPING_OPT_ID | unix.SOF_TIMESTAMPING_OPT_TSONLY | unix.SOF_TIMESTAMPING_OPT_CMSG
	if source == datasets.Hardware {
		d.flags |= unix.SOF_TIMESTAMPING_TX_HARDWARE | unix.SOF_TIMESTAMPING_RX_HARDWARE | unix.SOF_TIMESTAMPING_RAW_HARDWARE
	} else {
		d.flags |= unix.SOF_TIMESTAMPING_TX_SOFTWARE
	}
	d.once = d.read
	if err := d.set(d.flags); err != nil {
		return fmt.Errorf("%s stamps of departures: %w", source, err)
	}
	d.first = c.sent
	c.departures = d
	_ = raw.Control(func(fd uintptr) {
		// With both options the kernel makes up a software stamp where it has none.
		for _, option := range []int{unix.SO_TIMESTAMPNS_NEW, unix.SO_TIMESTAMPNS_OLD} {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, 0)
		}
	})
	return nil
}

func (d *departures) set(flags int) error {
	var refused error
	err := d.raw.Control(func(fd uintptr) {
		// The newer option has 64-bit seconds everywhere; it came with Linux 5.1.
		for _, option := range []int{unix.SO_TIMESTAMPING_NEW, unix.SO_TIMESTAMPING_OLD} {
			if refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, flags); refused == nil {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return refused
}

// renumber has the kernel number from 0 again, which it does whenever OPT_ID is
// switched on. What the queue holds until then is of the old numbers.
func (c *Conn) renumber() {
	d := c.departures
	_ = d.set(d.flags &^ unix.SOF_TIMESTAMPING_OPT_ID)
	c.drain()
	_ = d.set(d.flags)
	d.first = c.sent
}

// drain reads off all that the queue holds.
func (c *Conn) drain() {
	for c.departures.glance() == nil && c.departures.got.something {
	}
}

func (c *Conn) departure(number uint32, until time.Time) (datasets.Stamp, error) {
	d := c.departures
	for {
		err := d.glance()
		if err == nil && !d.got.something {
			if !time.Now().Before(until) {
				return datasets.Stamp{}, ErrNoStamp
			}
			err = d.await(until)
		}
		switch {
		case err != nil:
			return datasets.Stamp{}, err
		case d.got.numbered && d.got.number+d.first == number:
			return d.got.stamp(c.source)
		}
		// The stamp of a packet that was given up on.
	}
}

// glance reads one message of the error queue, if there is one.
func (d *departures) glance() error {
	d.got, d.failed = departed{}, nil
	if err := d.raw.Control(d.once); err != nil {
		return err
	}
	return d.failed
}

// await waits for a message, not much beyond until. It does not use the poller of the
// runtime, which lets one wait for a socket at a time: a Read may be doing that.
func (d *departures) await(until time.Time) error {
	d.got = departed{}
	left := int(time.Until(until)/time.Millisecond) + 1
	return d.raw.Control(func(fd uintptr) {
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd)}}, left) // POLLERR is always reported
	})
}

// read takes one message off the error queue into d.got.
func (d *departures) read(fd uintptr) {
	d.header.Control = &d.control[0]
	d.header.SetControllen(len(d.control))
	_, _, errno := unix.Syscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&d.header)), unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	switch errno {
	case 0:
		d.got = parseDeparted(d.control[:d.header.Controllen])
		d.got.something = true
	case unix.EAGAIN, unix.EINTR:
	default:
		d.failed = errno
	}
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
