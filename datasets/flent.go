package datasets

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"time"
)

// flent's data file: the raw values of what it pinged, each with its time, in milliseconds.
// The results that it drew are resampled, and no rows; what is no round trip is left out.
func bindFlent(fs *flag.FlagSet) func() (Format, error) {
	return bindJSON(func(head []byte) bool { return isJSON(head, "metadata", "FLENT_VERSION") }, func() jsonReader { return &flent{} })(fs)
}

type flent struct{ any bool }

func (f *flent) wants(path []string) func(json.RawMessage, *rows) error {
	if !at(path, "raw_values", "*", "[]") {
		return nil
	}
	name := path[1]
	if strings.Contains(name, "::") || !strings.HasPrefix(name, "Ping (ms)") && name != "HTTP latency" {
		return func(json.RawMessage, *rows) error { return nil }
	}
	return func(raw json.RawMessage, out *rows) error { return f.value(name, raw, out) }
}

func (f *flent) end(out *rows) error {
	if !f.any {
		out.say("no raw values of a ping or of HTTP: rates, jitter and delays of one way are no round trips")
	}
	return nil
}

func (f *flent) value(name string, raw json.RawMessage, out *rows) error {
	var v struct {
		At    decimalOf `json:"t"`
		Value decimalOf `json:"val"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	wall, err := v.At.span(time.Second)
	if err != nil {
		return fmt.Errorf("%s: t %w", name, err)
	}
	s, first := out.of([]byte(name), RTT, "flent")
	if first {
		out.say("flent's raw values have no lost packets: their number cannot be told, and quantiles are those of the answered ones")
	}
	elapsed, err := v.Value.span(time.Millisecond)
	if err != nil {
		return fmt.Errorf("%s: val %w", name, err)
	}
	f.any = true
	row := out.sample(s)
	row.Due = s.wall(wall)
	row.Sent, row.Elapsed = row.Due, elapsed
	return nil
}
