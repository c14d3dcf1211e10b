package daemon

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
)

// A timesyncd of the test's own, on a real bus, is asked through the real busctl: the
// JSON that is read is the one that busctl writes. A real timesyncd would set the clock.
func TestTimesyncdOverARealBus(t *testing.T) {
	netlab.Need(t, "busctl")
	bus := startBus(t)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+bus)
	d := &timesyncd{file: synchronizedFile(t) + "-not"}
	if _, err := ask(t, d); err == nil || !strings.HasPrefix(err.Error(), "busctl: call failed: ") {
		t.Errorf("got %v of a bus without timesyncd", err)
	}
	d.file = synchronizedFile(t)
	serveTimesync(t, bus, time.Now().Add(-time.Second))
	r, err := ask(t, d)
	check(t, err)
	c := r.Claims[0]
	if c.Status != datasets.Synchronised || c.Reference != "216.239.35.8" || r.lost != "" {
		t.Errorf("%+v, lost %q", c, r.lost)
	}
	checkCell(t, "offset", c.Offset, -5224*time.Microsecond)
	checkCell(t, "root dispersion", c.RootDispersion, 91*time.Microsecond)
	checkCell(t, "frequency", c.Frequency, datasets.PPB(27_071))
	checkCell(t, "stratum", c.Stratum, 1)
	checkFacts(t, c, map[string]string{
		"server": "time.google.com", "precision": "-20", "reference": "474F4F47", "jitter_us": "5386", "packets": "5", "poll_interval_us": "512000000",
	})
}

// startBus runs a bus of the test's own and returns its socket.
func startBus(t *testing.T) string {
	t.Helper()
	folder := socketFolder(t)
	socket, conf := filepath.Join(folder, "bus"), filepath.Join(folder, "conf")
	check(t, os.WriteFile(conf, []byte(`<busconfig><type>session</type><listen>unix:path=`+socket+`</listen><auth>EXTERNAL</auth>`+
		`<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`), 0o600))
	cmd := exec.Command(netlab.Need(t, "dbus-daemon"), "--config-file="+conf, "--nofork", "--nopidfile")
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if conn, err := net.Dial("unix", socket); err == nil {
			check(t, conn.Close())
			return socket
		}
	}
	t.Fatal("no bus")
	return ""
}

// serveTimesync owns timesyncd's name and answers whatever is asked with what
// timesyncAnswer has.
func serveTimesync(t *testing.T, bus string, destination time.Time) {
	t.Helper()
	conn, err := net.Dial("unix", bus)
	check(t, err)
	in := bufio.NewReader(conn)
	_, err = fmt.Fprintf(conn, "\x00AUTH EXTERNAL %s\r\n", hex.EncodeToString(fmt.Append(nil, os.Geteuid())))
	check(t, err)
	line, err := in.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "OK") {
		t.Fatalf("the bus says %q, %v", line, err)
	}
	_, err = conn.Write([]byte("BEGIN\r\n"))
	check(t, err)
	const name = "org.freedesktop.timesync1"
	calls := []dbusMessage{
		{kind: 1, member: "Hello"},
		{kind: 1, member: "RequestName", signature: "su", body: new(dbusBody).text(name).u32(4).b},
	}
	for i, m := range calls {
		m.serial = uint32(i + 1)
		_, err = conn.Write(m.bytes())
		check(t, err)
		for { // its answer, among signals
			got, err := readDBus(in)
			check(t, err)
			if got.kind == 2 && got.replyTo == m.serial {
				break
			}
		}
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for serial := uint32(10); ; serial++ {
			call, err := readDBus(in)
			if err != nil {
				return
			}
			if call.kind != 1 {
				continue
			}
			m := dbusMessage{kind: 2, serial: serial, replyTo: call.serial, destination: call.sender, signature: "a{sv}", body: timesyncBody(destination)}
			if _, err := conn.Write(m.bytes()); err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = conn.Close()
		serving.Wait()
	})
}

// timesyncBody is the properties of timesyncd, as a{sv}.
func timesyncBody(destination time.Time) []byte {
	t4 := uint64(destination.UnixMicro())
	t1 := t4 - 65_884 - 100 // 100 µs in the server
	t2 := t1 + 65_884/2 - 5_224
	entries := new(dbusBody)
	entry := func(name, signature string) *dbusBody {
		return entries.align(8).text(name).sig(signature)
	}
	entry("ServerName", "s").text("time.google.com")
	entry("ServerAddress", "(iay)").align(8).u32(2).u32(4).raw(216, 239, 35, 8)
	entry("PollIntervalUSec", "t").u64(512_000_000)
	entry("NTPMessage", "(uuuuittayttttbtt)").align(8).u32(0).u32(4).u32(4).u32(1).u32(1<<32-20).u64(0).u64(91).
		u32(4).raw('G', 'O', 'O', 'G').u64(t1).u64(t2).u64(t2 + 100).u64(t4).u32(0).u64(5).u64(5386)
	entry("Frequency", "x").u64(1774125)
	all := new(dbusBody).u32(uint32(len(entries.b))).align(8)
	return append(all.b, entries.b...)
}

// dbusBody writes values as the D-Bus specification marshals them, little endian.
type dbusBody struct{ b []byte }

func (d *dbusBody) align(n int) *dbusBody {
	for len(d.b)%n != 0 {
		d.b = append(d.b, 0)
	}
	return d
}

func (d *dbusBody) raw(b ...byte) *dbusBody { d.b = append(d.b, b...); return d }

func (d *dbusBody) u32(v uint32) *dbusBody {
	d.align(4).b = binary.LittleEndian.AppendUint32(d.align(4).b, v)
	return d
}

func (d *dbusBody) u64(v uint64) *dbusBody {
	d.align(8).b = binary.LittleEndian.AppendUint64(d.align(8).b, v)
	return d
}

func (d *dbusBody) text(s string) *dbusBody {
	return d.u32(uint32(len(s))).raw(append([]byte(s), 0)...)
}

func (d *dbusBody) sig(s string) *dbusBody {
	return d.raw(byte(len(s))).raw(append([]byte(s), 0)...)
}

// dbusMessage is a call (1), an answer (2), or what else may come.
type dbusMessage struct {
	kind                byte
	serial, replyTo     uint32
	member, destination string
	signature, sender   string
	body                []byte
}

func (m dbusMessage) bytes() []byte {
	fields := new(dbusBody)
	field := func(code byte, signature string) *dbusBody { return fields.align(8).raw(code).sig(signature) }
	if m.kind == 1 { // of the bus itself
		field(1, "o").text("/org/freedesktop/DBus")
		field(2, "s").text("org.freedesktop.DBus")
		field(3, "s").text(m.member)
		field(6, "s").text("org.freedesktop.DBus")
	} else {
		field(5, "u").u32(m.replyTo)
		field(6, "s").text(m.destination)
	}
	if m.signature != "" {
		field(8, "g").sig(m.signature)
	}
	head := new(dbusBody).raw('l', m.kind, 0, 1).u32(uint32(len(m.body))).u32(m.serial).u32(uint32(len(fields.b)))
	head.b = append(head.b, fields.b...)
	return append(head.align(8).b, m.body...)
}

// readDBus reads one message and those of its fields that matter here.
func readDBus(in io.Reader) (m dbusMessage, err error) {
	head := make([]byte, 16)
	if _, err := io.ReadFull(in, head); err != nil {
		return m, err
	}
	u32 := binary.LittleEndian.Uint32
	m.kind, m.serial = head[1], u32(head[8:])
	length := int(u32(head[12:]))
	fields := make([]byte, (length+7)/8*8)
	if _, err := io.ReadFull(in, fields); err != nil {
		return m, err
	}
	if _, err := io.CopyN(io.Discard, in, int64(u32(head[4:]))); err != nil {
		return m, err
	}
	for at := 0; at < length; at = (at + 7) / 8 * 8 {
		code, kind := fields[at], fields[at+2]
		at += 4 // code, the signature's length, the signature, 0
		switch kind {
		case 'u':
			if code == 5 {
				m.replyTo = u32(fields[at:])
			}
			at += 4
		case 'g':
			at += int(fields[at]) + 2
		default:
			n := int(u32(fields[at:]))
			if code == 7 {
				m.sender = string(fields[at+4 : at+4+n])
			}
			at += 4 + n + 1
		}
	}
	return m, nil
}
