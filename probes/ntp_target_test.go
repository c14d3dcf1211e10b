package probes

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets/spec"
)

func TestSplitTarget(t *testing.T) {
	for _, c := range []struct {
		target, host string
		port         uint16
		wrong        string
	}{
		{"ntp.example.org", "ntp.example.org", 123, ""},
		{"ntp.example.org:1123", "ntp.example.org", 1123, ""},
		{"192.0.2.1", "192.0.2.1", 123, ""},
		{"192.0.2.1:65535", "192.0.2.1", 65535, ""},
		{"2001:db8::1", "2001:db8::1", 123, ""},
		{"[2001:db8::1]", "2001:db8::1", 123, ""},
		{"[2001:db8::1]:1123", "2001:db8::1", 1123, ""},
		{"[fe80::1%eth0]:1123", "fe80::1%eth0", 1123, ""},
		{"", "", 0, "names no host"},
		{":123", "", 0, "names no host"},
		{"[]:123", "", 0, "is not an IPv6 address"},
		{"[192.0.2.1]:123", "", 0, `"192.0.2.1" is not an IPv6 address`},
		{"[2001:db8::1", "", 0, "want host, host:port"},
		{"2001:db8::1:x", "", 0, "want host, host:port"},
		{"]", "", 0, `"]" is not a host`},
		{"ntp.example.org/pool", "", 0, "is not a host"},
		{"http://ntp.example.org", "", 0, `port "//ntp.example.org"`},
		{"host:", "", 0, "want host, host:port"},
		{"host:0", "", 0, `port "0": want 1 to 65535`},
		{"host:65536", "", 0, `port "65536"`},
		{"host:ntp", "", 0, `port "ntp"`},
	} {
		host, port, err := splitTarget(c.target, 123)
		var usage *spec.UsageError
		switch {
		case c.wrong != "" && (!errors.As(err, &usage) || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(err.Error(), strconv.Quote(c.target))):
			t.Errorf("%q: %v, want %q", c.target, err, c.wrong)
		case c.wrong == "" && (err != nil || host != c.host || port != c.port):
			t.Errorf("%q: %q %d %v, want %q %d", c.target, host, port, err, c.host, c.port)
		}
	}
}

// What is accepted is a host and a port, and written as host:port it reads the same.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"host", "host:1", "[::1]:2", "::1", "[::1]", "1.2.3.4:5", "[fe80::1%1]:3", "[", "]", "::", "%:1", "[%]", "::%]0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		host, port, err := splitTarget(target, 123)
		if err != nil {
			if host != "" || port != 0 || !strings.Contains(err.Error(), "target") {
				t.Errorf("%q: %q %d with %v", target, host, port, err)
			}
			return
		}
		if host == "" || port == 0 {
			t.Fatalf("%q: host %q, port %d", target, host, port)
		}
		again, samePort, err := splitTarget(net.JoinHostPort(host, strconv.Itoa(int(port))), 9)
		if err != nil || again != host || samePort != port {
			t.Errorf("%q: %q %d reads as %q %d, %v", target, host, port, again, samePort, err)
		}
	})
}

func TestNamesAreResolvedByFamily(t *testing.T) {
	for family, want := range map[string]func(netip.Addr) bool{"4": netip.Addr.Is4, "6": netip.Addr.Is6, "any": netip.Addr.IsValid} {
		at, err := ntpProbe{port: 123, version: 4, family: family}.remote(t.Context(), "localhost", time.Minute)
		var unknown *net.DNSError
		var none *net.AddrError
		if errors.As(err, &unknown) || errors.As(err, &none) {
			continue // this host's localhost has no such address
		}
		if err != nil || !want(at.Addr()) || !at.Addr().IsLoopback() || at.Port() != 123 {
			t.Errorf("family %s: %v %v", family, at, err)
		}
	}
}

func TestResolvingStopsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if at, err := (ntpProbe{port: 123, family: "any"}).remote(ctx, "localhost.invalid", time.Minute); err == nil {
		t.Errorf("resolved to %v with its context done", at)
	}
}

// An IPv4 address in IPv6 clothes is asked as what it is.
func TestMappedAddressesAreUnmapped(t *testing.T) {
	at, err := ntpProbe{port: 123, family: "any"}.remote(t.Context(), "::ffff:127.0.0.1", time.Minute)
	if err != nil || at != netip.MustParseAddrPort("127.0.0.1:123") {
		t.Errorf("%v %v", at, err)
	}
}
