package probes

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets/spec"
)

// longestLookup is how long a name may take to resolve, if we listen no longer.
const longestLookup = 5 * time.Second

// remote returns the one address that a whole recording asks.
func (p ntpProbe) remote(ctx context.Context, target string, listen time.Duration) (netip.AddrPort, error) {
	return remoteOf(ctx, target, uint16(p.port), "ip"+strings.TrimPrefix(p.family, "any"), listen)
}

// remoteOf returns the first address of a target, with its port or else the usual one.
// The network is ip, ip4 or ip6.
func remoteOf(ctx context.Context, target string, usual uint16, network string, listen time.Duration) (netip.AddrPort, error) {
	host, port, err := splitTarget(target, usual)
	if err != nil {
		return netip.AddrPort{}, err
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		ctx, stop := context.WithTimeout(ctx, max(listen, longestLookup))
		defer stop()
		all, err := net.DefaultResolver.LookupNetIP(ctx, network, host)
		if err != nil {
			return netip.AddrPort{}, err
		}
		addr = all[0]
	}
	addr = addr.Unmap()
	if addr.IsMulticast() || addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return netip.AddrPort{}, &spec.UsageError{Msg: fmt.Sprintf("target %q: want one host, not a group of them", target)}
	}
	return netip.AddrPortFrom(addr, port), nil
}

// splitTarget reads host, host:port, an IPv6 address as it is, or one in brackets
// with or without a port.
func splitTarget(target string, usual uint16) (host string, port uint16, err error) {
	wrong := func(format string, args ...any) (string, uint16, error) {
		return "", 0, &spec.UsageError{Msg: fmt.Sprintf("target %q: ", target) + fmt.Sprintf(format, args...)}
	}
	host, portText, ok := cutPort(target)
	bracketed := strings.HasPrefix(target, "[")
	switch addr, err := netip.ParseAddr(host); {
	case !ok:
		return wrong("want host, host:port, an IPv6 address or [address]:port")
	case host == "" && !bracketed:
		return wrong("names no host")
	case bracketed && (err != nil || !addr.Is6()):
		return wrong("%q is not an IPv6 address", host)
	case strings.ContainsAny(host, "[]/"):
		return wrong("%q is not a host", host)
	case portText == "":
		return host, usual, nil
	}
	n, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || n == 0 {
		return wrong("port %q: want 1 to 65535", portText)
	}
	return host, uint16(n), nil
}

// cutPort separates the port from a target, if there is one. It is false for a
// colon or bracket without its counterpart.
func cutPort(target string) (host, port string, ok bool) {
	if a, err := netip.ParseAddr(target); err == nil && !strings.ContainsAny(a.Zone(), "[]/") {
		return target, "", true
	}
	if inner, found := strings.CutPrefix(target, "["); found && strings.HasSuffix(inner, "]") {
		return strings.TrimSuffix(inner, "]"), "", true
	}
	if !strings.Contains(target, ":") {
		return target, "", true
	}
	host, port, err := net.SplitHostPort(target)
	return host, port, err == nil && port != ""
}
