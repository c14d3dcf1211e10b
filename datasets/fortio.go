package datasets

import (
	"encoding/json"
	"flag"
	"fmt"
	"time"
)

// fortio's JSON result, which nighthawk writes too: a histogram of durations in seconds.
func bindFortio(fs *flag.FlagSet) func() (Format, error) {
	return bindJSON(func(head []byte) bool { return isJSON(head, "RequestedQPS", "DurationHistogram") }, func() jsonReader { return fortio{} })(fs)
}

type fortio struct{}

func (f fortio) wants(path []string) func(json.RawMessage, *rows) error {
	switch {
	case at(path, "URL"):
		return func(raw json.RawMessage, out *rows) error {
			var url string
			if json.Unmarshal(raw, &url) == nil && url != "" {
				f.series(out).Header.Set(KeyTarget, url)
			}
			return nil
		}
	case at(path, "DurationHistogram", "Data", "[]"):
		return f.bin
	}
	return nil
}

func (fortio) end(*rows) error { return nil }

func (fortio) series(out *rows) *Series {
	s, _ := out.of(nil, Histograms, "fortio")
	return s
}

func (f fortio) bin(raw json.RawMessage, out *rows) error {
	var d struct {
		Start decimalOf `json:"Start"`
		End   decimalOf `json:"End"`
		Count decimalOf `json:"Count"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	low, err := d.Start.span(time.Second)
	if err != nil {
		return fmt.Errorf("start %w", err)
	}
	high, err := d.End.span(time.Second)
	if err != nil {
		return fmt.Errorf("end %w", err)
	}
	count, err := d.Count.span(1)
	if err != nil {
		return fmt.Errorf("count %w", err)
	}
	b := out.bin(f.series(out))
	b.Low, b.High, b.Count = low, Some(high), int64(count)
	return nil
}
