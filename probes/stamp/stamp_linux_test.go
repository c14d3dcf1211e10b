package stamp

import (
	"encoding/binary"
	"math"
	"net/netip"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What waits in the socket was stamped when it came, not when it was read. The
// kernel switches arrival stamps on with a delay after the first socket has asked
// for them, and until then stamps at the reading; so the first rounds may miss.
func TestArrivalIsStampedBeforeItIsRead(t *testing.T) {
	server, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if !server.KernelStamps() {
		t.Skip("this kernel has no SO_TIMESTAMPNS")
	}
	client, err := Dial(netip.AddrPort{}, server.LocalAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 1000 {
		first, reading := queued(t, server, client)
		at, _ := first.Wall.UnixNanos()
		if at < reading.UnixNano() && first.Waited >= first.Mono.Sub(reading) {
			return
		}
	}
	t.Error("in 1000 rounds no packet was stamped before its reading began")
}

// queued sends 20 packets, then reads them. It returns the first and when reading began.
func queued(t *testing.T, server, client *Conn) (first Arrival, reading time.Time) {
	t.Helper()
	for range 20 {
		if _, err := client.Write([]byte("queued")); err != nil {
			t.Fatal(err)
		}
	}
	reading = time.Now()
	buf := make([]byte, 16)
	for i := range 20 {
		a, err := server.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = a
		}
	}
	return first, reading
}

func TestALongDatagramIsTruncated(t *testing.T) {
	server, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for size, want := range map[int]bool{7: false, 8: false, 9: true} {
		if _, err := server.WriteTo(make([]byte, size), server.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		a, err := server.Read(make([]byte, 8))
		if err != nil || a.N != min(size, 8) || a.Truncated != want {
			t.Errorf("%d bytes into 8: read %d, truncated %v, %v; want truncated %v", size, a.N, a.Truncated, err, want)
		}
	}
}

func TestDropsAreCounted(t *testing.T) {
	server, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := server.set(unix.SO_RCVBUF, 1); err != nil { // the kernel's minimum, 2304 bytes
		t.Fatal(err)
	}
	const sent = 100
	for range sent {
		if _, err := server.WriteTo(make([]byte, 512), server.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 512)
	if err := server.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	// A drop is reported with the next datagram that finds room, hence one more.
	var last Arrival
	kept := 1
	for ; ; kept++ {
		if last, err = server.Read(buf); err != nil {
			t.Fatal(err)
		}
		if last.Dropped > 0 {
			break
		}
		if _, err := server.WriteTo(buf[:1], server.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	if int(last.Dropped) >= sent {
		t.Errorf("%d of %d datagrams dropped, but %d were read", last.Dropped, sent, kept)
	}
}

// message builds a control message as the kernel lays it out (cmsg(3)).
func message(level, kind int32, data []byte) []byte {
	b := make([]byte, unix.CmsgSpace(len(data)))
	h := unix.Cmsghdr{Level: level, Type: kind}
	h.SetLen(unix.CmsgLen(len(data)))
	copy(b, unsafe.Slice((*byte)(unsafe.Pointer(&h)), unix.SizeofCmsghdr))
	copy(b[unix.CmsgLen(0):], data)
	return b
}

func timespec(seconds, nanos int64) []byte {
	return binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, uint64(seconds)), uint64(nanos))
}

func TestParseControl(t *testing.T) {
	narrow := binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, 0xffffffff), 5) // −1 s + 5 ns
	drops := message(unix.SOL_SOCKET, unix.SO_RXQ_OVFL, binary.NativeEndian.AppendUint32(nil, 7))
	stamp := message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, timespec(1, 2))
	for name, test := range map[string]struct {
		in   []byte
		want control
	}{
		"nothing":          {nil, control{}},
		"stamp":            {stamp, control{1_000_000_002, true, 0, 0, 0}},
		"older stamp":      {message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_OLD, timespec(-1, 5)), control{-999_999_995, true, 0, 0, 0}},
		"32-bit stamp":     {message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_OLD, narrow), control{-999_999_995, true, 0, 0, 0}},
		"drops, stamp":     {append(append([]byte{}, drops...), stamp...), control{1_000_000_002, true, 7, 0, 0}},
		"other level":      {message(unix.SOL_IP, unix.SO_TIMESTAMPNS_NEW, timespec(1, 2)), control{}},
		"ttl":              {message(unix.SOL_IP, unix.IP_TTL, binary.NativeEndian.AppendUint32(nil, 63)), control{ttl: 63}},
		"hop limit":        {message(unix.SOL_IPV6, unix.IPV6_HOPLIMIT, binary.NativeEndian.AppendUint32(nil, 64)), control{ttl: 64}},
		"short ttl":        {message(unix.SOL_IP, unix.IP_TTL, []byte{9, 9}), control{}},
		"cut off":          {stamp[:len(stamp)-1], control{}},
		"ns out of range":  {message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, timespec(1, 1_000_000_000)), control{}},
		"s out of range":   {message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, timespec(math.MaxInt64, 0)), control{}},
		"timeval-like":     {message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, make([]byte, 12)), control{}},
		"drops of 3 bytes": {message(unix.SOL_SOCKET, unix.SO_RXQ_OVFL, make([]byte, 3)), control{}},
	} {
		if got := parseControl(test.in); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// Whatever stands around it, a well-formed stamp is read exactly and an impossible
// one is not read at all; bytes that are no control message do no harm.
func FuzzControlMessage(f *testing.F) {
	f.Add([]byte{}, int64(1_700_000_000), int64(123_456_789), uint32(0))
	f.Add([]byte{16, 0, 0, 0, 0, 0, 0, 0, 1}, int64(-1), int64(999_999_999), uint32(3))
	f.Add(message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, timespec(1, 2)), int64(math.MinInt64), int64(-1), uint32(9))
	f.Fuzz(func(t *testing.T, junk []byte, seconds, nanos int64, dropped uint32) {
		if c := parseControl(junk); !c.stamped && c.unixNanos != 0 {
			t.Errorf("no stamp, but %d ns", c.unixNanos)
		}
		in := message(unix.SOL_IP, unix.IP_TTL, junk)
		in = append(in, message(unix.SOL_SOCKET, unix.SO_RXQ_OVFL, binary.NativeEndian.AppendUint32(nil, dropped))...)
		in = append(in, message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, timespec(seconds, nanos))...)
		c := parseControl(append(in, junk...)[:len(in)])
		// Go's own clock arithmetic is the twin: it normalises where we refuse.
		twin := time.Unix(seconds, nanos)
		fits := nanos >= 0 && nanos < 1e9 && twin.Unix() == seconds && time.Unix(0, twin.UnixNano()).Equal(twin)
		if c.dropped != dropped || c.stamped != fits {
			// The last partial second of int64 nanoseconds is refused as a whole.
			if !(fits && seconds >= math.MaxInt64/int64(time.Second)) && !(fits && seconds < math.MinInt64/int64(time.Second)) {
				t.Errorf("%d s %d ns, %d dropped: got %+v", seconds, nanos, dropped, c)
			}
		}
		if c.stamped && !time.Unix(0, c.unixNanos).Equal(twin) {
			t.Errorf("%d s %d ns read as %v, want %v", seconds, nanos, time.Unix(0, c.unixNanos), twin)
		}
	})
}
