package daemon

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// dialPlace returns a dialler to a unix socket, written as an absolute path, or to a
// UDP address.
func dialPlace(place, port string) (func(context.Context) (net.Conn, error), error) {
	if strings.HasPrefix(place, "/") {
		return dialUnix(place), nil
	}
	address, err := withPort(place, port)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", address)
	}, nil
}

// withPort reads HOST, HOST:PORT, an IPv6 address with or without brackets.
func withPort(place, port string) (string, error) {
	if host, given, err := net.SplitHostPort(place); err == nil {
		if n, err := strconv.ParseUint(given, 10, 16); err != nil || n == 0 || host == "" {
			return "", fmt.Errorf("%q: want HOST:PORT", place)
		}
		return place, nil
	}
	host := strings.TrimSuffix(strings.TrimPrefix(place, "["), "]")
	if strings.ContainsAny(host, "[]/@ ") || (strings.Contains(host, ":") && net.ParseIP(host) == nil) {
		return "", fmt.Errorf("%q: want a socket's absolute path or HOST:PORT", place)
	}
	return net.JoinHostPort(host, port), nil
}
