package datasets

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"
)

// nighthawk's JSON: for each worker and all together the percentiles of each of its
// statistics, as durations such as "0.002s". What counts no times is left out.
func bindNighthawk(fs *flag.FlagSet) func() (Format, error) {
	is := func(head []byte) bool {
		return isJSON(head, "results", "statistics") && isJSON(head, "pstdev", "percentiles")
	}
	return bindJSON(is, func() jsonReader { return nighthawk{} })(fs)
}

type nighthawk struct{}

func (n nighthawk) wants(path []string) func(json.RawMessage, *rows) error {
	if at(path, "results", "[]") {
		return n.result
	}
	return nil
}

func (nighthawk) end(*rows) error { return nil }

type nighthawkStatistic struct {
	ID          string    `json:"id"`
	Count       decimalOf `json:"count"`
	Min         decimalOf `json:"min"`
	Max         decimalOf `json:"max"`
	Percentiles []struct {
		Count    decimalOf `json:"count"`
		Duration decimalOf `json:"duration"`
	} `json:"percentiles"`
}

func (n nighthawk) result(raw json.RawMessage, out *rows) error {
	var r struct {
		Name       string               `json:"name"`
		Statistics []nighthawkStatistic `json:"statistics"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	for i := range r.Statistics {
		st := &r.Statistics[i]
		s := func() *Series {
			s, _ := out.of([]byte(strings.TrimSpace(r.Name+" "+st.ID)), Histograms, "nighthawk")
			return s
		}
		if err := st.put(s, out); err != nil {
			return fmt.Errorf("%s %s: %w", r.Name, st.ID, err)
		}
	}
	return nil
}

// put adds a bin between each two percentiles; one of all, where there are none.
func (st *nighthawkStatistic) put(series func() *Series, out *rows) error {
	total, err := st.Count.span(1)
	switch {
	case err != nil || total == 0:
		return err
	case len(st.Percentiles) > 0:
		return st.percentiles(series, out)
	case !strings.HasSuffix(string(st.Max), "s"):
		return nil // no times
	}
	low, err1 := secondsOf(st.Min)
	high, err2 := secondsOf(st.Max)
	if err1 != nil || err2 != nil || high < low {
		return fmt.Errorf("min %q, max %q: want durations", st.Min, st.Max)
	}
	b := out.bin(series())
	b.Low, b.High, b.Count = low, Some(high), int64(total)
	return nil
}

func (st *nighthawkStatistic) percentiles(series func() *Series, out *rows) error {
	below, low := int64(0), time.Duration(0)
	for i, p := range st.Percentiles {
		if p.Duration == "" {
			return nil // a size
		}
		value, err1 := secondsOf(p.Duration)
		upTo, err2 := p.Count.span(1)
		if err := errors.Join(err1, err2); err != nil || int64(upTo) < below || value < low {
			return fmt.Errorf("percentile %d, %s values up to %s: want no less than of the one before it", i+1, p.Count, p.Duration)
		}
		if n := int64(upTo) - below; n > 0 {
			b := out.bin(series())
			b.Low, b.High, b.Count = low, Some(value), n
		}
		below, low = int64(upTo), value
	}
	return nil
}

func secondsOf(d decimalOf) (time.Duration, error) {
	text, ok := strings.CutSuffix(string(d), "s")
	if !ok {
		return 0, fmt.Errorf("%q: want seconds", string(d))
	}
	return decimalOf(text).span(time.Second)
}
