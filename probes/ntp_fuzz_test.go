package probes

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/facebook/time/ntp/protocol"
	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// Whatever bytes come back, through the socket and the library: a row that counts as
// an answer keeps every promise an answer makes, one that does not says why in words
// that a trace can hold, and only our own server's kiss is obeyed.
func FuzzNTPReply(f *testing.F) {
	request, err := (&protocol.Packet{Settings: 4<<3 | 3}).Bytes()
	if err != nil {
		f.Fatal(err)
	}
	good := goodReply(request, 0, nil)
	f.Add(good, true)
	f.Add(good, false)
	f.Add(good[:47], true)
	f.Add(append(bytes.Clone(good), make([]byte, 20)...), true)
	f.Add([]byte{}, false)
	for _, spoil := range []func(*protocol.Packet){
		func(p *protocol.Packet) { p.Stratum, p.ReferenceID = 0, 'R'<<24|'A'<<16|'T'<<8|'E' },
		func(p *protocol.Packet) { p.Stratum, p.ReferenceID = 0, '"'<<24|'\t'<<16|0xff<<8 },
		func(p *protocol.Packet) { p.Stratum, p.Settings = 1, p.Settings|1<<6 },
		func(p *protocol.Packet) { p.Settings |= 3 << 6 },
		func(p *protocol.Packet) { p.TxTimeSec += 3 },
		func(p *protocol.Packet) { p.TxTimeSec -= 3 },
		func(p *protocol.Packet) { p.RxTimeSec, p.TxTimeSec = 1, 1<<31-1 },
		func(p *protocol.Packet) { p.RootDelay, p.RootDispersion = 1<<32-1, 1<<32-1 },
		func(p *protocol.Packet) { p.Precision, p.Poll = 127, -128 },
	} {
		f.Add(goodReply(request, 0, spoil), true)
	}
	var reply atomic.Value // func(request []byte) []byte
	at := serveNTP(f, func(_ int, request []byte) [][]byte {
		return [][]byte{reply.Load().(func([]byte) []byte)(request)}
	})
	var engines []ntpEngine
	for _, text := range []string{"ntp:engine=portable", "ntp:engine=precise"} {
		engine, err := parseNTP(f, text).(ntpProbe).newEngine(context.Background(), at.String(), at, Plan{}, time.Minute)
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { _ = engine.close() })
		engines = append(engines, engine)
	}
	f.Fuzz(func(t *testing.T, b []byte, ours bool) {
		b = b[:min(len(b), 4096)]
		reply.Store(func(request []byte) []byte {
			if !ours || len(b) < 32 {
				return b
			}
			own := bytes.Clone(b)
			copy(own[24:32], request[40:48])
			return own
		})
		for _, engine := range engines {
			// The precise engine listens on for its own answer.
			a := engine.ask(t.Context(), ntpQuery{}, time.Now().Add(20*time.Millisecond))
			row, kiss := a.exchange()
			row.Attempt = 1 // what the run fills in
			checkFuzzedRow(t, b, ours, &row)
			if kiss != "" && (!ours || len(b) < 48 || b[1] != 0 || b[0]&7 != 4 || row.Reference != kiss || row.Outcome != datasets.Invalid) {
				t.Errorf("%x: kiss %q of %+v", b, kiss, row)
			}
		}
	})
}

func checkFuzzedRow(t *testing.T, b []byte, ours bool, row *datasets.Exchange) {
	t.Helper()
	switch row.Outcome {
	case datasets.Invalid:
		if row.Why == "" || strings.ContainsAny(row.Why, "\n\t") {
			t.Errorf("%x: invalid because of %q", b, row.Why)
		}
	case datasets.Replied:
		stratum, ok1 := row.Stratum.Value()
		leap, ok2 := row.Leap.Value()
		delay, ok3 := row.Delay()
		rootDelay, _ := row.RootDelay.Value()
		dispersion, _ := row.RootDispersion.Value()
		t2, _ := row.T2.UnixNanos()
		t3, _ := row.T3.UnixNanos()
		if !ok1 || !ok2 || !ok3 || stratum < 1 || stratum > 15 || leap < 0 || leap > 2 || delay < 0 || t3 < t2 ||
			rootDelay/2+dispersion >= 16*time.Second || !ours || len(b) != 48 || row.Why != "" {
			t.Errorf("%x: taken for an answer: %+v", b, row)
		}
	default:
		t.Errorf("%x: outcome %v", b, row.Outcome)
	}
	checkKept(t, row)
}

// checkKept holds a row to what comes back from a trace file.
func checkKept(t *testing.T, row *datasets.Exchange) {
	t.Helper()
	h := &datasets.Header{}
	h.Set(datasets.KeyKind, string(datasets.Exchanges))
	var file bytes.Buffer
	w, err := datasets.NewWriter(&file, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(row); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := datasets.Open("x", &file, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got datasets.Exchange
	if !s.Next(&got) {
		t.Fatalf("%+v is not read back: %v", row, s.Err())
	}
	if diff := cmp.Diff(row, &got, cmp.AllowUnexported(datasets.Stamp{}, datasets.Optional[int]{}, datasets.Optional[time.Duration]{})); diff != "" {
		t.Error(diff)
	}
}
