package datasets

import (
	"encoding/json"
	"flag"
	"fmt"
	"time"
)

// mtr --json: for each hop how many were sent and lost, and the least, mean and greatest
// round trip of those answered, in milliseconds. All that is known of one of them is that
// it lies between.
func bindMTR(fs *flag.FlagSet) func() (Format, error) {
	return bindJSON(func(head []byte) bool { return isJSON(head, "report", "mtr", "hubs") }, func() jsonReader { return &mtr{} })(fs)
}

type mtr struct{ n int }

func (m *mtr) wants(path []string) func(json.RawMessage, *rows) error {
	if at(path, "report", "hubs", "[]") {
		return m.hub
	}
	return nil
}

func (*mtr) end(*rows) error { return nil }

func (m *mtr) hub(raw json.RawMessage, out *rows) error {
	var h struct {
		Host string    `json:"host"`
		Loss decimalOf `json:"Loss%"`
		Sent decimalOf `json:"Snt"`
		Avg  decimalOf `json:"Avg"`
		Best decimalOf `json:"Best"`
		Wrst decimalOf `json:"Wrst"`
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return err
	}
	m.n++
	best, err1 := h.Best.span(time.Millisecond)
	worst, err2 := h.Wrst.span(time.Millisecond)
	sent, err3 := h.Sent.span(1)
	lost, err4 := h.Loss.span(time.Millisecond) // in units of 1e-6 %
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || worst < best || lost > 100*time.Millisecond || sent > time.Second {
		return fmt.Errorf("hub %d: want numbers: Best %q, Wrst %q, Snt %q, Loss%% %q", m.n, h.Best, h.Wrst, h.Sent, h.Loss)
	}
	s, _ := out.of(fmt.Appendf(nil, "%d %s", m.n, h.Host), Histograms, "mtr")
	s.Header.Set(KeyTarget, h.Host)
	s.Header.Set("told-mean", string(h.Avg)+"ms")
	s.Header.Set("told-loss", string(h.Loss)+" % of "+string(h.Sent))
	b := out.bin(s)
	b.Low, b.High = best, Some(worst)
	b.Count = int64(sent) - (int64(sent)*int64(lost)+50_000_000)/100_000_000
	return nil
}
