package stamp

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
)

// Tap sees the frames of PTP that arrive at an interface and leave it, whoever sends
// them, with the kernel's time of both. It sends nothing and takes nothing away.
type Tap struct {
	file    *os.File
	raw     syscall.RawConn
	control [256]byte
}

// OpenTap taps an Ethernet interface. Without the right (cap_net_raw) the error is
// fs.ErrPermission.
func OpenTap(iface string) (*Tap, error) {
	at, err := net.InterfaceByName(iface)
	if err != nil {
		return nil, fmt.Errorf("interface %q: %w", iface, err)
	}
	// Protocol 0 takes nothing until the filter is there and bind says what.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := prepareTap(fd, at.Index); err != nil {
		return nil, errors.Join(fmt.Errorf("interface %q: %w", iface, err), unix.Close(fd))
	}
	t := &Tap{file: os.NewFile(uintptr(fd), iface)}
	if t.raw, err = t.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, t.file.Close())
	}
	return t, nil
}

func prepareTap(fd, index int) error {
	filter := ptpFrames()
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}); err != nil {
		return os.NewSyscallError("filter", err)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer)
	stamped := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1)
	if stamped != nil {
		stamped = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_OLD, 1)
	}
	if stamped != nil {
		return os.NewSyscallError("time stamps", stamped)
	}
	for _, group := range ptpGroups() {
		m := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_MULTICAST, Alen: uint16(len(group))}
		copy(m.Address[:], group[:])
		_ = unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &m) // left when the socket is closed
	}
	return os.NewSyscallError("bind", unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: index}))
}

func networkOrder(v uint16) uint16 { return v<<8 | v>>8 }

// ptpGroups are the multicast addresses of PTP over UDP/IPv4 (224.0.1.129, 224.0.0.107)
// and over Ethernet, IEEE 1588-2019 annexes C and E.
func ptpGroups() [][6]byte {
	return [][6]byte{{0x01, 0, 0x5e, 0, 1, 0x81}, {0x01, 0, 0x5e, 0, 0, 0x6b}, {0x01, 0x1b, 0x19, 0, 0, 0}, {0x01, 0x80, 0xc2, 0, 0, 0x0e}}
}

// Read waits for a frame. After a deadline set by SetReadDeadline the error is
// os.ErrDeadlineExceeded, after Close os.ErrClosed.
func (t *Tap) Read(buf []byte) (f Frame, err error) {
	var n, controls int
	var failed error
	err = t.raw.Read(func(fd uintptr) bool {
		n, controls, _, _, failed = unix.Recvmsg(int(fd), buf, t.control[:], 0)
		return !errors.Is(failed, unix.EAGAIN) && !errors.Is(failed, unix.EINTR)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return Frame{}, err
	}
	m := parseControl(t.control[:controls])
	f = Frame{N: n, Dropped: m.dropped}
	if m.stamped {
		f.At = datasets.NewStamp(m.unixNanos, datasets.Local, datasets.Kernel)
	}
	return f, nil
}

// SetReadDeadline ends reads at t; the zero time lets them wait for ever.
func (t *Tap) SetReadDeadline(at time.Time) error { return t.file.SetReadDeadline(at) }

// Close ends the tap.
func (t *Tap) Close() error { return t.file.Close() }

// ptpFrames is a filter (classic BPF) that lets pass PTP over Ethernet, what has a tag
// of a VLAN, and what comes from or goes to the UDP ports of PTP.
func ptpFrames() []unix.SockFilter {
	const (
		half, octet = unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, unix.BPF_LD | unix.BPF_B | unix.BPF_ABS
		port        = unix.BPF_LD | unix.BPF_H | unix.BPF_IND
		equal, bits = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		ipv4, ports = 9, 14
		no, yes     = 20, 21
	)
	var all []unix.SockFilter
	add := func(code uint16, k uint32) { all = append(all, unix.SockFilter{Code: code, K: k}) }
	jump := func(code uint16, k uint32, yes, no int) {
		next := len(all) + 1
		all = append(all, unix.SockFilter{Code: code, Jt: uint8(yes - next), Jf: uint8(no - next), K: k})
	}
	next := func() int { return len(all) + 1 }
	add(half, 12) // the EtherType
	jump(equal, 0x88f7, yes, next())
	jump(equal, unix.ETH_P_8021Q, yes, next())
	jump(equal, unix.ETH_P_IP, ipv4, next())
	jump(equal, unix.ETH_P_IPV6, next(), no)
	add(octet, 14+6)
	jump(equal, unix.IPPROTO_UDP, next(), no)
	add(unix.BPF_LDX|unix.BPF_IMM, 40)
	add(unix.BPF_JMP|unix.BPF_JA, uint32(ports-next()))
	add(octet, 14+9)
	jump(equal, unix.IPPROTO_UDP, next(), no)
	add(half, 14+6)
	jump(bits, 0x1fff, no, next()) // not the first fragment
	add(unix.BPF_LDX|unix.BPF_B|unix.BPF_MSH, 14)
	for _, at := range []uint32{14, 16} {
		add(port, at)
		jump(equal, 319, yes, next())
		jump(equal, 320, yes, next())
	}
	add(unix.BPF_RET|unix.BPF_K, 0)
	add(unix.BPF_RET|unix.BPF_K, 1<<16)
	return all
}
