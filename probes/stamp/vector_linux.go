package stamp

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// vector is what recvmmsg and sendmmsg read and write, kept from call to call so that
// they allocate nothing. It grows to the most messages it was ever used for.
type vector struct {
	headers   []header
	buffers   []unix.Iovec
	addresses []unix.RawSockaddrInet6 // the larger of the two kinds
	controls  [][controlRoom]byte
	single    [1]Message
}

// header is struct mmsghdr.
type header struct {
	unix.Msghdr
	n uint32
}

// controlRoom is for the control messages of one packet.
const controlRoom = 256

func (v *vector) grow(n int) {
	if n <= len(v.headers) {
		return
	}
	v.headers, v.buffers = make([]header, n), make([]unix.Iovec, n)
	v.addresses, v.controls = make([]unix.RawSockaddrInet6, n), make([][controlRoom]byte, n)
	for i := range v.headers {
		v.headers[i].Iov = &v.buffers[i]
		v.headers[i].SetIovlen(1)
	}
}

// receive takes up to len(in) messages off a queue of the socket.
func (v *vector) receive(fd int, in []Message, flags uintptr) (int, unix.Errno) {
	v.grow(len(in))
	for i := range in {
		v.buffers[i].Base = &in[i].Buf[0]
		v.buffers[i].SetLen(len(in[i].Buf))
	}
	return v.read(fd, len(in), flags)
}

// read takes up to n messages into the buffers there are.
func (v *vector) read(fd, n int, flags uintptr) (int, unix.Errno) {
	for i := range v.headers[:n] {
		h := &v.headers[i].Msghdr
		h.Name, h.Namelen = (*byte)(unsafe.Pointer(&v.addresses[i])), unix.SizeofSockaddrInet6
		h.Control = &v.controls[i][0]
		h.SetControllen(controlRoom)
	}
	got, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.headers[0])), uintptr(n), flags, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(got), 0
}

// transmit sends up to len(out) messages, without waiting.
func (v *vector) transmit(fd int, out []Message, v6 bool) (int, unix.Errno) {
	if len(out) == 0 {
		return 0, 0
	}
	v.grow(len(out))
	for i := range out {
		v.buffers[i].Base = unsafe.SliceData(out[i].Buf)
		v.buffers[i].SetLen(len(out[i].Buf))
		h := &v.headers[i].Msghdr
		h.Name, h.Namelen = nil, 0
		if out[i].To.IsValid() {
			h.Name = (*byte)(unsafe.Pointer(&v.addresses[i]))
			h.Namelen = encode(&v.addresses[i], out[i].To, v6)
		}
	}
	sent, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.headers[0])), uintptr(len(out)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(sent), 0
}

func (v *vector) control(i int) []byte { return v.controls[i][:v.headers[i].Controllen] }

// encode writes an address as the socket's family has it and returns its length.
func encode(at *unix.RawSockaddrInet6, to netip.AddrPort, v6 bool) uint32 {
	length := uint32(unix.SizeofSockaddrInet4)
	if v6 {
		*at = unix.RawSockaddrInet6{Family: unix.AF_INET6, Addr: to.Addr().As16(), Scope_id: scope(to.Addr().Zone())}
		length = unix.SizeofSockaddrInet6
	} else {
		*(*unix.RawSockaddrInet4)(unsafe.Pointer(at)) = unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: to.Addr().Unmap().As4()}
	}
	binary.BigEndian.PutUint16(port(at), to.Port())
	return length
}

// port is where both kinds of address have it, in the network's order.
func port(at *unix.RawSockaddrInet6) []byte { return (*[2]byte)(unsafe.Pointer(&at.Port))[:] }

// from returns who sent message i, an IPv4 address as such.
func (v *vector) from(i int, z *zones) netip.AddrPort {
	at := &v.addresses[i]
	port := binary.BigEndian.Uint16(port(at))
	switch at.Family {
	case unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(at)).Addr), port)
	case unix.AF_INET6:
		a := netip.AddrFrom16(at.Addr).Unmap()
		if at.Scope_id != 0 {
			a = a.WithZone(z.name(at.Scope_id))
		}
		return netip.AddrPortFrom(a, port)
	}
	return netip.AddrPort{}
}

// zones remembers the name of the interface that was asked for last.
type zones struct {
	scope uint32
	last  string
}

func (z *zones) name(scope uint32) string {
	if z.scope != scope {
		z.scope, z.last = scope, strconv.Itoa(int(scope))
		if i, err := net.InterfaceByIndex(int(scope)); err == nil {
			z.last = i.Name
		}
	}
	return z.last
}

// scope is the index of the interface of that name or number, 0 if there is none.
func scope(zone string) uint32 {
	if zone == "" {
		return 0
	}
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n)
	}
	if i, err := net.InterfaceByName(zone); err == nil {
		return uint32(i.Index)
	}
	return 0
}
