//go:build !linux

package probes

import "net"

// tcpInfoOf knows nothing.
func tcpInfoOf(*net.TCPConn) tcpInfo { return tcpInfo{-1, -1, -1} }
