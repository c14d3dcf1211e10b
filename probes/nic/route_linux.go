package nic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// routed asks the kernel's routing table (RTM_GETROUTE, rtnetlink(7)), which knows
// policy routing and addresses that several interfaces have.
func routed(addr netip.Addr) (string, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return "", os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, routeRequest(addr), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return "", os.NewSyscallError("sendto", err)
	}
	// The kernel answers within the call that asked; should it not, nothing waits.
	buf := make([]byte, 8192)
	n, _, err := unix.Recvfrom(fd, buf, unix.MSG_DONTWAIT)
	if err != nil {
		return "", os.NewSyscallError("recvfrom", err)
	}
	index, err := outgoing(buf[:n])
	if err != nil {
		return "", err
	}
	i, err := net.InterfaceByIndex(index)
	if err != nil {
		return "", err
	}
	return i.Name, nil
}

// routeRequest asks for the route to one address: struct nlmsghdr, rtmsg, rtattr.
func routeRequest(addr netip.Addr) []byte {
	dst := addr.AsSlice()
	family := byte(unix.AF_INET)
	if addr.Is6() {
		family = unix.AF_INET6
	}
	size := unix.SizeofNlMsghdr + unix.SizeofRtMsg + unix.SizeofRtAttr + len(dst)
	b := binary.NativeEndian.AppendUint32(nil, uint32(size))
	b = binary.NativeEndian.AppendUint16(b, unix.RTM_GETROUTE)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST)
	b = binary.NativeEndian.AppendUint32(b, 1) // sequence
	b = binary.NativeEndian.AppendUint32(b, 0) // to the kernel
	b = append(b, family, byte(len(dst)*8))
	b = append(b, make([]byte, unix.SizeofRtMsg-2)...)
	b = binary.NativeEndian.AppendUint16(b, uint16(unix.SizeofRtAttr+len(dst)))
	b = binary.NativeEndian.AppendUint16(b, unix.RTA_DST)
	return append(b, dst...)
}

// outgoing returns the index of the interface that a reply names. The parser of the
// standard library is not used: it panics on an attribute cut short.
func outgoing(reply []byte) (int, error) {
	length, kind, ok := record(reply, unix.SizeofNlMsghdr, true)
	if !ok {
		return 0, errors.New("reply of rtnetlink is cut short")
	}
	body := reply[unix.SizeofNlMsghdr:length]
	switch {
	case kind == unix.NLMSG_ERROR && len(body) >= 4:
		if code := int32(binary.NativeEndian.Uint32(body)); code < 0 && code > math.MinInt32 {
			return 0, unix.Errno(-code)
		}
	case kind == unix.RTM_NEWROUTE && len(body) >= unix.SizeofRtMsg:
		return outgoingOf(body[unix.SizeofRtMsg:])
	}
	return 0, fmt.Errorf("reply of rtnetlink: type %d where a route is wanted", kind)
}

func outgoingOf(attributes []byte) (int, error) {
	for b := attributes; ; {
		length, kind, ok := record(b, unix.SizeofRtAttr, false)
		if !ok {
			return 0, errors.New("reply of rtnetlink names no interface")
		}
		if kind == unix.RTA_OIF && length == unix.SizeofRtAttr+4 {
			return int(binary.NativeEndian.Uint32(b[unix.SizeofRtAttr:])), nil
		}
		b = b[min((length+3)&^3, len(b)):]
	}
}

// record reads the length and type that a message (32 and 16 bits) or an attribute
// (16 and 16) begins with, and is false if b does not hold it whole.
func record(b []byte, header int, message bool) (length int, kind uint16, ok bool) {
	if len(b) < header {
		return 0, 0, false
	}
	if message {
		length, kind = int(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint16(b[4:])
	} else {
		length, kind = int(binary.NativeEndian.Uint16(b)), binary.NativeEndian.Uint16(b[2:])
	}
	return length, kind, length >= header && length <= len(b)
}
