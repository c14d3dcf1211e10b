package probes

import (
	"net/netip"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/stamp"
)

// rowsOf is a recorder that keeps samples and the trailer.
type rowsOf struct {
	samples []datasets.Sample
	trailer datasets.Header
}

func (*rowsOf) Begin(*datasets.Header) error { return nil }

func (r *rowsOf) Record(row datasets.Row) error {
	r.samples = append(r.samples, *row.(*datasets.Sample))
	return nil
}

func (r *rowsOf) End(trailer ...datasets.Field) error {
	for _, f := range trailer {
		r.trailer.Set(f.Key, f.Value)
	}
	return nil
}

// A socket that is closed stands for a system that will not send.
func TestWhatCannotBeSentIsARow(t *testing.T) {
	conn, err := stamp.Dial(netip.AddrPort{}, netip.MustParseAddrPort("127.0.0.1:9"))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	f := &flight{
		conn: conn, epoch: time.Now(),
		schedule: schedule{interval: time.Millisecond, count: 5},
		open:     newInflight(1, 96, time.Millisecond, time.Minute),
	}
	rec := &rowsOf{}
	if err := f.run(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if len(rec.samples) != 5 {
		t.Fatalf("%d rows, want 5", len(rec.samples))
	}
	for _, s := range rec.samples {
		if s.Outcome != datasets.LostLocal || s.Size != 0 || s.Copies != 0 {
			t.Errorf("%+v", s)
		}
	}
	if n, why := rec.trailer.Text("send-errors"), rec.trailer.Text("send-error"); n != "5" || why == "" {
		t.Errorf("%q send errors, the first %q", n, why)
	}
}
