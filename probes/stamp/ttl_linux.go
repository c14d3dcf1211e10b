package stamp

import (
	"encoding/binary"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TellTTL has each Arrival say with which TTL or hop limit it came.
func (c *Conn) TellTTL() error {
	return c.setHops(unix.IP_RECVTTL, unix.IPV6_RECVHOPLIMIT, 1)
}

// SetTTL is the TTL or hop limit of what is sent from now on.
func (c *Conn) SetTTL(ttl uint8) error {
	return c.setHops(unix.IP_TTL, unix.IPV6_UNICAST_HOPS, int(ttl))
}

// setHops sets an option of both families on a socket of IPv6, which may carry IPv4 too.
func (c *Conn) setHops(v4, v6, value int) error {
	err := os.NewSyscallError("setsockopt", unix.SetsockoptInt(c.fd, unix.IPPROTO_IP, v4, value))
	if c.v6 {
		six := os.NewSyscallError("setsockopt", unix.SetsockoptInt(c.fd, unix.IPPROTO_IPV6, v6, value))
		if six == nil {
			return nil
		}
		err = errors.Join(err, six)
	}
	return err
}

// parseTTL reads the control message of either family, 0 if it is neither.
func parseTTL(h *unix.Cmsghdr, data []byte) uint8 {
	v4 := h.Level == unix.IPPROTO_IP && h.Type == unix.IP_TTL
	v6 := h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_HOPLIMIT
	if !v4 && !v6 || len(data) < 4 {
		return 0
	}
	return uint8(binary.NativeEndian.Uint32(data))
}
