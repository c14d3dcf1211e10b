package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"time"
)

// hey -o csv: a line for each request that was answered, in seconds with four digits. The
// requests that failed or timed out are not in it.
func bindHey(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isHey, byLine(func() dialect { return &hey{} }))(fs)
}

const heyHeader = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"

type hey struct{ f columns }

func isHey(head []byte) bool { return bytes.HasPrefix(head, []byte(heyHeader)) }

func (h *hey) line(text []byte, out *rows) error {
	if len(text) == 0 || isHey(text) {
		return nil
	}
	f := &h.f
	f.splitCommas(text)
	if f.n != 8 {
		return fmt.Errorf("%d columns: want 8", f.n)
	}
	s, first := out.of(nil, RTT, "hey -o csv")
	if first {
		s.Header.SetDuration("resolution", 100*time.Microsecond)
		s.Header.Set("schedule", "closed loop: hey sends when a worker is free, so a stall hides what would have been sent")
		out.say("hey leaves out requests that failed or timed out: its percentiles are those of survivors, and too good (what is missing cannot be told from the file)")
	}
	row := out.sample(s)
	row.Elapsed, row.Status, row.Due = f.seconds(0), Some(f.whole(6)), s.since(f.seconds(7))
	row.Sent = row.Due
	return f.err
}

func (*hey) end(*rows) error { return nil }
