package netlab

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// ntpOnce asks by hand and returns θ of user stamps.
func ntpOnce(c net.Conn) (time.Duration, error) {
	const unix = 2_208_988_800
	packet := make([]byte, 48)
	packet[0] = 4<<3 | 3
	began := time.Now()
	binary.BigEndian.PutUint64(packet[40:], uint64(began.UnixNano()))
	if _, err := c.Write(packet); err != nil {
		return 0, err
	}
	_ = c.SetReadDeadline(began.Add(200 * time.Millisecond))
	if n, err := c.Read(packet); err != nil || n < 48 {
		return 0, fmt.Errorf("%d bytes, %w", n, err)
	}
	ended := time.Now()
	stamp := func(b []byte) time.Time {
		return time.Unix(int64(binary.BigEndian.Uint32(b))-unix, int64(binary.BigEndian.Uint32(b[4:]))*1e9>>32)
	}
	return (stamp(packet[32:]).Sub(began) + stamp(packet[40:]).Sub(ended)) / 2, nil
}

// median of n offsets read by hand; the first answer is waited for.
func median(t *testing.T, from Namespace, at netip.AddrPort, n int) time.Duration {
	t.Helper()
	var all []time.Duration
	err := from.Do(func() error {
		c, err := net.Dial("udp", at.String())
		if err != nil {
			return err
		}
		defer c.Close()
		for end := time.Now().Add(20 * time.Second); len(all) < n && time.Now().Before(end); {
			if theta, err := ntpOnce(c); err == nil {
				all = append(all, theta)
			}
		}
		return nil
	})
	if err != nil || len(all) < n {
		t.Fatalf("%d answers from %v: %v", len(all), at, err)
	}
	slices.Sort(all)
	return all[n/2]
}

func TestChronydAnswers(t *testing.T) {
	lab := New(t)
	d := Chronyd(t, lab.Server, "local stratum 3\nallow 10.77.0.0/24")
	if theta := median(t, lab.Client, netip.AddrPortFrom(lab.Server.Addr, 123), 20); theta.Abs() > time.Millisecond {
		t.Errorf("θ %v against one's own clock", theta)
	}
	out, err := exec.Command(Need(t, "chronyc"), "-h", d.Socket, "tracking").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Stratum") {
		t.Errorf("chronyc: %v: %s", err, out)
	}
}

func TestNtpdAnswers(t *testing.T) {
	lab := New(t)
	Ntpd(t, lab.Server, "unrestrict default noquery")
	if out, err := NTPSec(t, lab.Server, "ntpq", "-n", "-c", "rv 0 version"); err != nil || !strings.Contains(out, "ntpsec") {
		t.Errorf("ntpq: %v: %s", err, out)
	}
	if theta := median(t, lab.Client, netip.AddrPortFrom(lab.Server.Addr, 123), 20); theta.Abs() > time.Millisecond {
		t.Errorf("θ %v against one's own clock", theta)
	}
}

// A path that takes 3 ms there and 1 ms back reads as 1 ms: half of the difference.
func TestRelayKeepsItsDelays(t *testing.T) {
	lab := New(t)
	NTPResponder(t, lab.Server, 1124)
	server := netip.AddrPortFrom(lab.Server.Addr, 1124)
	median(t, lab.Client, server, 1)
	at := Relay(t, lab.Server, server, 3*time.Millisecond, time.Millisecond)
	if theta := median(t, lab.Client, at, 100); (theta - time.Millisecond).Abs() > 100*time.Microsecond {
		t.Errorf("θ %v, want 1 ms", theta)
	}
}

// Three other clients read an injected offset, each to its own precision.
func TestOtherClientsReadAnOffset(t *testing.T) {
	lab := New(t)
	Need(t, "ntpdig")
	Need(t, "chronyd")
	const truth = 1234567 * time.Nanosecond
	NTPResponder(t, lab.Server, 123, "-extraoffset", truth.String())
	median(t, lab.Client, netip.AddrPortFrom(lab.Server.Addr, 123), 1)
	for name, got := range map[string]time.Duration{
		"ntpdig":   NTPDig(t, lab.Client, lab.Server.Addr),
		"chronyd":  ChronydQ(t, lab.Client, lab.Server.Addr, ""),
		"ntpcheck": NTPCheck(t, lab.Client, lab.Server.Addr, 5),
	} {
		if (got - truth).Abs() > 300*time.Microsecond {
			t.Errorf("%s reads %v, want %v", name, got, truth)
		}
	}
}

func TestPTP4LSlaveSeesItsMaster(t *testing.T) {
	lab := New(t)
	master := PTP4L(t, lab.Server, "priority1 10\nunicast_listen 1", "egressLatency 250000\ningressLatency -250000")
	master.AwaitState(t, lab.Server, "MASTER")
	slave := PTP4L(t, lab.Client, "slaveOnly 1\n[unicast_master_table]\ntable_id 1\nlogQueryInterval 0\nUDPv4 "+lab.Server.Addr.String(), "unicast_master_table 1")
	offset := regexp.MustCompile(`master_offset\s+(-?\d+)`)
	slave.Await(t, "an offset", func() bool {
		m := offset.FindStringSubmatch(PMC(t, lab.Client, slave.Socket, "GET TIME_STATUS_NP"))
		return m != nil && m[1] != "0"
	})
}

// What sptp reads of a ptp4u is the whole offset, 37 s of it the TAI's, and of the
// opposite sign: the time of its own clock less that of the server.
func TestSPTPSeesPTP4U(t *testing.T) {
	lab := New(t)
	PTP4U(t, lab.Server, "37.001234567s")
	client := SPTP(t, lab.Client, lab.Server.Addr)
	var theta time.Duration
	client.Await(t, "sptp: an offset", func() bool {
		var servers []struct {
			Offset float64 `json:"offset"`
		}
		if err := json.Unmarshal([]byte(SPTPState(lab.Client)), &servers); err != nil || len(servers) != 1 {
			return false
		}
		theta = -time.Duration(servers[0].Offset)
		return theta != 0
	})
	if (theta - 37*time.Second - 1234567).Abs() > 100*time.Microsecond {
		t.Errorf("θ %v, want 37.001234567s", theta)
	}
}

// A chronyd whose own clock is 0.5 s ahead, and not the kernel's: half of that shows as
// an offset, and a round trip that is over before it began.
func TestFaketimeShiftsOnlyT3(t *testing.T) {
	lab := New(t)
	Chronyd(t, Faketime(t, lab.Server, 500*time.Millisecond), "local stratum 3\nallow 10.77.0.0/24")
	if theta := median(t, lab.Client, netip.AddrPortFrom(lab.Server.Addr, 123), 20); (theta - 250*time.Millisecond).Abs() > 10*time.Millisecond {
		t.Errorf("θ %v, want 250ms", theta)
	}
}

// The first request after a recipe's return is answered.
func TestServersAreUp(t *testing.T) {
	for range 3 {
		lab := New(t)
		Chronyd(t, lab.Server, "local stratum 3\nallow 10.77.0.0/24")
		Ntpd(t, lab.Client, "")
		NTPResponder(t, lab.Server, 1124)
		for _, at := range []struct {
			n    Namespace
			port uint16
		}{{lab.Server, 123}, {lab.Client, 123}, {lab.Server, 1124}} {
			if to := netip.AddrPortFrom(at.n.Addr, at.port); !answersNTP(lab.Client, to) {
				t.Errorf("%v did not answer at once", to)
			}
		}
	}
}
