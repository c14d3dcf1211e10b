package datasets

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"time"
)

// k6 --out json: an object a line, a metric or a point of one. Those that the file says to
// contain times are rows, in milliseconds, one series a metric.
func bindK6(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isK6, byLine(func() dialect { return &k6{times: map[string]bool{}} }))(fs)
}

type k6 struct{ times map[string]bool }

func isK6(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return isJSON(line, "metric", "type", "data") && (bytes.Contains(line, []byte(`"Metric"`)) || bytes.Contains(line, []byte(`"Point"`)))
}

func (k *k6) line(text []byte, out *rows) error {
	if len(text) == 0 {
		return nil
	}
	var l struct {
		Metric string `json:"metric"`
		Type   string `json:"type"`
		Data   struct {
			Contains string            `json:"contains"`
			Time     time.Time         `json:"time"`
			Value    decimalOf         `json:"value"`
			Tags     map[string]string `json:"tags"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return fmt.Errorf("%s: want an object of k6: %w", clip(text), plainJSON(err))
	}
	if l.Type == "Metric" {
		k.times[l.Metric] = l.Data.Contains == "time"
		return nil
	}
	if !k.times[l.Metric] {
		return nil
	}
	wall, err := since1970(l.Data.Time)
	if err != nil {
		return err
	}
	elapsed, err := l.Data.Value.span(time.Millisecond)
	if err != nil {
		return fmt.Errorf("value %w", err)
	}
	s, first := out.of([]byte(l.Metric), RTT, "k6 --out json")
	if first {
		s.Header.Set("schedule", "k6 tells when a call had ended: it began as long before")
	}
	row := out.sample(s)
	row.Due = s.wall(wall - elapsed)
	row.Sent, row.Elapsed = row.Due, elapsed
	if status, err := strconv.Atoi(l.Data.Tags["status"]); err == nil {
		row.Status = Some(status)
		if status == 0 { // no answer
			row.Outcome, row.Copies = TimedOut, 0
		}
	}
	return nil
}

func (*k6) end(*rows) error { return nil }
