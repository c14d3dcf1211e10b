package probes

import (
	"math"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// tcpInfoOf asks the kernel (TCP_INFO, tcp(7)).
func tcpInfoOf(conn *net.TCPConn) tcpInfo {
	unknown := tcpInfo{-1, -1, -1}
	raw, err := conn.SyscallConn()
	if err != nil {
		return unknown
	}
	var got *unix.TCPInfo
	if err := raw.Control(func(fd uintptr) {
		got, _ = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}); err != nil || got == nil {
		return unknown
	}
	info := tcpInfo{
		rtt: time.Duration(got.Rtt) * time.Microsecond, minRTT: time.Duration(got.Min_rtt) * time.Microsecond,
		retransmits: int64(got.Total_retrans),
	}
	if got.Rtt == 0 { // not measured yet
		info.rtt = -1
	}
	if got.Min_rtt == math.MaxUint32 || got.Min_rtt == 0 { // likewise, or a kernel before 4.6
		info.minRTT = -1
	}
	return info
}
