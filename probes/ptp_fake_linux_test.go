package probes

import (
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/netlab"
)

// fakeMaster is a PTP master that can be made to lie. Its clock is ours, its messages
// are written by hand after IEEE 1588-2019 §13.
type fakeMaster struct {
	event, general *net.UDPConn
	oneStep        bool
	denied         func(kind wire.PTPType, interval int8) bool
	change         func(b []byte) [][]byte // what becomes of a message; nil leaves it
	flood          bool

	lanes sync.WaitGroup
	ended chan struct{}
	begin sync.Once
	mu    sync.Mutex
	tlvs  map[uint16]int // types of the TLVs it was sent
	dead  bool           // cancels once, after the first Delay_Req
}

const (
	fakeClock  = 0x0102030405060708
	tlvRequest = 4
	tlvGrant   = 5
	tlvCancel  = 6
	tlvAck     = 7
)

// startFakeMaster runs f in a namespace until the test ends.
func startFakeMaster(tb testing.TB, n netlab.Namespace, f *fakeMaster) *fakeMaster {
	tb.Helper()
	f.ended, f.tlvs = make(chan struct{}), map[uint16]int{}
	open := func(port uint16) (c *net.UDPConn) {
		if err := n.Do(func() (err error) {
			c, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(n.Addr, port)))
			return err
		}); err != nil {
			tb.Fatal(err)
		}
		return c
	}
	f.event, f.general = open(wire.PTPEventPort), open(wire.PTPGeneralPort)
	f.lanes.Go(func() { f.read(f.event) })
	f.lanes.Go(func() { f.read(f.general) })
	tb.Cleanup(f.stop)
	return f
}

// stop may be called twice.
func (f *fakeMaster) stop() {
	select {
	case <-f.ended:
		return
	default:
	}
	close(f.ended)
	f.event.Close()
	f.general.Close()
	f.lanes.Wait()
}

func (f *fakeMaster) read(c *net.UDPConn) {
	buf := make([]byte, 2048)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if b := buf[:n]; n >= 44 && wire.PTPType(b[0]&15) == wire.Signaling {
			f.signaled(b, from.Addr())
		} else if n >= 44 && wire.PTPType(b[0]&15) == wire.DelayReq {
			f.asked(b, from, time.Now())
		}
	}
}

func (f *fakeMaster) heard(kind uint16) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tlvs[kind]
}

// signaled answers each TLV and begins to send.
func (f *fakeMaster) signaled(b []byte, to netip.Addr) {
	answer := fakeMessage(wire.Signaling, 0, 0, time.Time{})
	copy(answer[34:44], b[20:30])
	for tlvs := b[44 : len(b)-2]; len(tlvs) >= 4; {
		kind, size := binary.BigEndian.Uint16(tlvs), int(binary.BigEndian.Uint16(tlvs[2:]))
		f.mu.Lock()
		f.tlvs[kind]++
		f.mu.Unlock()
		if kind == tlvRequest {
			length := binary.BigEndian.Uint32(tlvs[6:])
			if f.denied != nil && f.denied(wire.PTPType(tlvs[4]>>4), int8(tlvs[5])) {
				length = 0
			}
			answer = append(answer, 0, tlvGrant, 0, 8, tlvs[4], tlvs[5])
			answer = binary.BigEndian.AppendUint32(answer, length)
			answer = append(answer, 0, 1)
		}
		tlvs = tlvs[4+size:]
	}
	f.send(f.general, answer, netip.AddrPortFrom(to, wire.PTPGeneralPort))
	f.begin.Do(func() { f.lanes.Go(func() { f.sync(to) }) })
}

// sync sends a Sync every 5 ms.
func (f *fakeMaster) sync(to netip.Addr) {
	event, general := netip.AddrPortFrom(to, wire.PTPEventPort), netip.AddrPortFrom(to, wire.PTPGeneralPort)
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for n := uint16(0); ; n++ {
		select {
		case <-f.ended:
			return
		case <-ticks.C:
		}
		f.send(f.general, fakeAnnounce(n, time.Time{}), general)
		now := time.Now()
		if f.oneStep {
			f.send(f.event, fakeMessage(wire.Sync, 0, n, now), event)
			continue
		}
		f.send(f.event, fakeMessage(wire.Sync, wire.FlagTwoStep, n, time.Time{}), event)
		f.send(f.general, fakeMessage(wire.FollowUp, 0, n, now), general)
		for i := range 200 {
			if f.flood {
				f.send(f.event, fakeMessage(wire.PTPType(i&15), wire.PTPFlags(i), uint16(i), now), event)
			}
		}
	}
}

// asked answers a Delay_Req, by the profile that it asks for.
func (f *fakeMaster) asked(b []byte, from netip.AddrPort, at time.Time) {
	number := binary.BigEndian.Uint16(b[30:])
	if wire.PTPFlags(binary.BigEndian.Uint16(b[6:])).Has(wire.FlagProfile1) {
		leaves := time.Now()
		f.send(f.event, fakeMessage(wire.Sync, 0, number, at), from)
		f.send(f.general, fakeAnnounce(number, leaves), from)
		return
	}
	answer := append(fakeMessage(wire.DelayResp, 0, number, at), b[20:30]...)
	f.send(f.general, answer, netip.AddrPortFrom(from.Addr(), wire.PTPGeneralPort))
	if f.dead {
		f.dead = false
		message := fakeMessage(wire.Signaling, 0, 0, time.Time{})
		for _, kind := range []wire.PTPType{wire.Announce, wire.Sync, wire.DelayResp} {
			message = append(message, 0, tlvCancel, 0, 2, byte(kind)<<4, 0)
		}
		f.send(f.general, message, netip.AddrPortFrom(from.Addr(), wire.PTPGeneralPort))
	}
}

func (f *fakeMaster) send(c *net.UDPConn, b []byte, to netip.AddrPort) {
	all := [][]byte{b}
	if f.change != nil {
		all = f.change(b)
	}
	for _, b := range all {
		if len(b) >= 44 {
			binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
		}
		_, _ = c.WriteToUDPAddrPort(b, to)
	}
}

// fakeMessage is the header and a time stamp: all that most messages are.
func fakeMessage(kind wire.PTPType, flags wire.PTPFlags, number uint16, at time.Time) []byte {
	b := make([]byte, 44, 128)
	b[0], b[1] = byte(kind), 2
	binary.BigEndian.PutUint16(b[6:], uint16(flags|wire.FlagUnicast))
	binary.BigEndian.PutUint64(b[20:], fakeClock)
	binary.BigEndian.PutUint16(b[28:], 1)
	binary.BigEndian.PutUint16(b[30:], number)
	if !at.IsZero() {
		binary.BigEndian.PutUint32(b[36:], uint32(at.Unix()))
		binary.BigEndian.PutUint32(b[40:], uint32(at.Nanosecond()))
	}
	return b
}

// fakeAnnounce is of class 6, within 100 ns (0x21), 37 s ahead, and says that this is so.
func fakeAnnounce(number uint16, at time.Time) []byte {
	b := fakeMessage(wire.Announce, 0, number, at)
	b = append(b, 0, 0, 0, 128, 6, 0x21, 0xff, 0xff, 128)
	b = binary.BigEndian.AppendUint64(b, fakeClock)
	return append(b, 0, 0, 0x20)
}
