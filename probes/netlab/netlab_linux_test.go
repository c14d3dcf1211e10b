package netlab_test

import (
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"github.com/tickmark/tickmark/probes/netlab"
)

// A datagram crosses the cable, between sockets made in the two namespaces, and
// neither socket is in the test's own namespace.
func TestPairIsTwoWorldsAndACable(t *testing.T) {
	lab := netlab.New(t)
	var server *net.UDPConn
	check(t, lab.Server.Do(func() (err error) {
		server, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(lab.Server.Addr, 7)))
		return err
	}))
	defer server.Close()
	check(t, lab.Client.Do(func() error {
		c, err := net.DialUDP("udp", nil, server.LocalAddr().(*net.UDPAddr))
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Write([]byte("ping"))
		return err
	}))
	buf := make([]byte, 8)
	n, from, err := server.ReadFromUDPAddrPort(buf)
	check(t, err)
	if string(buf[:n]) != "ping" || from.Addr().Unmap() != lab.Client.Addr {
		t.Errorf("read %q from %v, want \"ping\" from %v", buf[:n], from, lab.Client.Addr)
	}
	if c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(lab.Server.Addr, 7))); err == nil {
		c.Close()
		t.Errorf("%v can be bound outside the lab: the namespace was not entered", lab.Server.Addr)
	}
}

func TestEveryPairHasItsOwnNames(t *testing.T) {
	a, b := netlab.New(t), netlab.New(t)
	if a.Server.Name == b.Server.Name || a.Client.Name == b.Client.Name {
		t.Errorf("%v and %v share a name", a, b)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	var lab *netlab.Pair
	t.Run("lab", func(t *testing.T) {
		lab = netlab.New(t)
		ended := lab.Server.Start(t, "sleep", "3600")
		select {
		case <-ended:
			t.Error("the command ended at once")
		default:
		}
	})
	if lab == nil {
		t.Skip("no lab")
	}
	out, err := exec.Command(netlab.Need(t, "ip"), "netns", "list").CombinedOutput()
	check(t, err)
	if strings.Contains(string(out), lab.Server.Name) || strings.Contains(string(out), lab.Client.Name) {
		t.Errorf("still there: %s", out)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
