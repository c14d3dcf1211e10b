package probes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// pcapRecord is a message over Ethernet and when it passed.
type pcapRecord struct {
	at      int64 // ns since 1970
	message []byte
}

// pcapOf is a capture of messages straight over Ethernet.
func pcapOf(records ...pcapRecord) []byte {
	b := pcapHead()
	for _, r := range records {
		b = pcapFrame(b, r.at, append([]byte("\x01\x1b\x19\x00\x00\x00\x02\x00\x00\x00\x00\x01\x88\xf7"), r.message...))
	}
	return b
}

// pcapHead begins a capture in nanoseconds, after tcpdump.org's pcap-savefile(5).
func pcapHead() []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0xa1b23c4d)
	return append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0)
}

func pcapFrame(b []byte, at int64, frame []byte) []byte {
	for _, v := range []int64{at / 1e9, at % 1e9, int64(len(frame)), int64(len(frame))} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return append(b, frame...)
}

// ptpBytes is a message of a port, after IEEE 1588-2019 §13.
func ptpBytes(kind wire.PTPType, flags wire.PTPFlags, clock byte, number uint16, stamp int64, more ...byte) []byte {
	b := make([]byte, 44, 64)
	b[0], b[1], b[27], b[29] = byte(kind), 2, clock, 1
	binary.BigEndian.PutUint16(b[6:], uint16(flags))
	binary.BigEndian.PutUint16(b[30:], number)
	binary.BigEndian.PutUint32(b[36:], uint32(stamp/1e9))
	binary.BigEndian.PutUint32(b[40:], uint32(stamp%1e9))
	b = append(b, more...)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	return b
}

const (
	aMaster, aSlave = 1, 2
	pcapEpoch       = 1_700_000_000_000_000_000
)

// endToEnd is a Sync of 20 that passes at 30, and a Delay_Req of 40 that arrives at 50:
// a slave's clock that is neither fast nor slow, 10 ns of path.
func endToEnd(at int64, number uint16) []pcapRecord {
	asker := []byte{0, 0, 0, 0, 0, 0, 0, aSlave, 0, 1}
	return []pcapRecord{
		{at + 30, ptpBytes(wire.Sync, wire.FlagTwoStep, aMaster, number, 0)},
		{at + 31, ptpBytes(wire.FollowUp, 0, aMaster, number, at+20)},
		{at + 40, ptpBytes(wire.DelayReq, 0, aSlave, number, 0)},
		{at + 60, ptpBytes(wire.DelayResp, 0, aMaster, number, at+50, asker...)},
	}
}

func listenTo(t *testing.T, text string, capture []byte, plan Plan) (*ntpTape, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ptp.pcap")
	if err := os.WriteFile(path, capture, 0o600); err != nil {
		t.Fatal(err)
	}
	tape := &ntpTape{}
	return tape, parseNTP(t, text).Run(t.Context(), path, plan, tape)
}

func TestListenToACapture(t *testing.T) {
	var records []pcapRecord
	for i := range 5 {
		records = append(records, endToEnd(pcapEpoch+int64(i)*1e9, uint16(i))...)
	}
	stray := endToEnd(pcapEpoch+5e9, 9)
	for _, r := range stray {
		r.message[4] = 7 // domain
	}
	capture := pcapOf(append(records, stray...)...)
	tape, err := listenTo(t, "ptp:mode=listen", capture, Plan{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tape.rows) != 5 || tape.trailer["other-domains"] != "4" || tape.trailer["messages"] != "20" {
		t.Errorf("%d rows, trailer %v", len(tape.rows), tape.trailer)
	}
	for i, e := range tape.rows {
		theta, ok := e.Offset()
		delay, _ := e.Delay()
		// The instant zero is when the first packet passed: 10 ns before the Delay_Req.
		if !ok || theta != 0 || delay != 20 || e.Sent != datasets.Instant(i*1e9+10) || e.Elapsed != 20 || e.Outcome != datasets.Replied || e.Seq != int64(i) {
			t.Errorf("row %d: θ %v, δ %v, %+v", i, theta, delay, e)
		}
		if want := "end-to-end\t000000.0000.000001-1\t000000.0000.000002-1"; e.Extra != want {
			t.Errorf("row %d: %q, want %q", i, e.Extra, want)
		}
	}
	if at, ok := tape.header.Epoch(); !ok || at.UnixNano() != pcapEpoch+30 {
		t.Errorf("epoch %v", at)
	}
	for plan, want := range map[*Plan]int{{Count: 2}: 2, {Duration: 2500 * time.Millisecond}: 3} {
		if tape, err := listenTo(t, "ptp:mode=listen", capture, *plan); err != nil || len(tape.rows) != want || tape.trailer == nil {
			t.Errorf("%+v: %d rows, want %d; %v", plan, len(tape.rows), want, err)
		}
	}
	if tape, err := listenTo(t, "ptp:mode=listen,domain=7", capture, Plan{}); err != nil || len(tape.rows) != 1 {
		t.Errorf("domain 7: %d rows, %v", len(tape.rows), err)
	}
}

// What is whole is kept, and the error says where the file is not.
func TestListenToADamagedCapture(t *testing.T) {
	capture := pcapOf(append(endToEnd(pcapEpoch, 1), endToEnd(pcapEpoch+1e9, 2)...)...)
	tape, err := listenTo(t, "ptp:mode=listen", capture[:len(capture)-3], Plan{})
	var damage *wire.CaptureError
	if !errors.As(err, &damage) || len(tape.rows) != 1 || tape.trailer == nil {
		t.Errorf("%d rows, trailer %v, %v", len(tape.rows), tape.trailer, err)
	}
	if _, err := listenTo(t, "ptp:mode=listen", []byte("no capture at all"), Plan{}); !errors.As(err, &damage) {
		t.Error(err)
	}
	err = parseNTP(t, "ptp:mode=listen").Run(t.Context(), "no-such-interface", Plan{}, &ntpTape{})
	if err == nil || !strings.Contains(err.Error(), `"no-such-interface"`) {
		t.Error(err)
	}
}

// Whatever bytes are in a capture, each row can be written, in order, and is judged: a
// good one has an offset and no negative delay.
func FuzzListen(f *testing.F) {
	f.Add(endToEnd(pcapEpoch, 1)[3].message, int64(60))
	f.Add(ptpBytes(wire.Announce, 0, aMaster, 1, 0, make([]byte, 20)...), int64(1e9))
	f.Add([]byte("\xff"), int64(-1))
	f.Fuzz(func(t *testing.T, message []byte, at int64) {
		if len(message) > 1<<16 || at < -pcapEpoch || at > 1e18 {
			return
		}
		records := append(endToEnd(pcapEpoch, 1)[:3], pcapRecord{pcapEpoch + at, message})
		capture, err := wire.OpenCapture(bytes.NewReader(pcapOf(append(records, endToEnd(pcapEpoch+3e9, 2)...)...)))
		if err != nil {
			t.Fatal(err)
		}
		var made int64
		p := parseNTP(t, "ptp:mode=listen").(ptpProbe)
		l := &ptpListener{probe: p, epoch: time.Unix(0, pcapEpoch), record: func(e *datasets.Exchange) error {
			delay, whole := e.Delay()
			good := e.Outcome == datasets.Replied
			if e.Seq != made || e.Elapsed < 0 || good != (whole && delay >= 0 && e.Why == "") {
				t.Errorf("%+v: δ %v", e, delay)
			}
			made++
			return nil
		}}
		l.pairs.Emit = l.take
		var c wire.Packet
		for capture.Next(&c) {
			l.hear(&c)
		}
		l.pairs.Close()
		if made == 0 {
			t.Error("the exchange behind it is lost")
		}
	})
}
