package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"strconv"
	"time"
)

// What wrk and wrk2 print at the end of a run. wrk2 has a spectrum in ms, with -U a second
// one, of latencies from when a request was sent instead of when it was due, which is a
// series of its own; wrk has a few percentiles (--latency).
func bindWrk(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isWrk, byLine(func() dialect { return &wrk{} }))(fs)
}

type wrk struct {
	spectrum
	target  string
	series  *Series
	inside  bool // a spectrum
	shares  []share
	spectra int
}

// share is a percentile of wrk's.
type share struct {
	of    float64
	value time.Duration
}

func isWrk(head []byte) bool {
	first := bytes.TrimSpace(head)
	return bytes.HasPrefix(first, []byte("Running ")) && bytes.Contains(first, []byte(" test @ ")) && bytes.Contains(first, []byte("threads and"))
}

func (w *wrk) line(text []byte, out *rows) error {
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
		return nil
	case bytes.HasPrefix(trimmed, []byte("Running ")):
		_, target, _ := bytes.Cut(trimmed, []byte(" test @ "))
		w.target = string(target)
	case w.target == "":
		return fmt.Errorf("%s: want \"Running … test @ URL\" first", clip(text))
	case bytes.HasPrefix(trimmed, []byte("Latency Distribution")):
		w.begin(bytes.Contains(trimmed, []byte("Uncorrected")), out)
	case w.inside:
		return w.within(text, trimmed, out)
	case isSpectrumHeader(text):
		w.inside = w.series != nil
		w.spectra++
	default:
		return w.summary(trimmed, out)
	}
	return nil
}

// within reads a line of a spectrum.
func (w *wrk) within(text, trimmed []byte, out *rows) error {
	if bytes.HasPrefix(trimmed, []byte("----")) || bytes.HasPrefix(trimmed, []byte("#[Buckets")) {
		w.inside = false
		w.check(out)
		return nil
	}
	return w.row(text, time.Millisecond, w.series, out)
}

// summary reads what is neither in a spectrum nor begins one.
func (w *wrk) summary(trimmed []byte, out *rows) error {
	switch {
	case bytes.Contains(trimmed, []byte(" requests in ")):
		return w.total(trimmed, out)
	case bytes.HasPrefix(trimmed, []byte("Socket errors: ")), bytes.HasPrefix(trimmed, []byte("Non-2xx or 3xx responses: ")):
		out.say("%s: none of them is in the latencies", trimmed)
	case w.series != nil && bytes.IndexByte(trimmed, '%') > 0:
		return w.percentile(trimmed)
	}
	return nil
}

func (*wrk) end(*rows) error { return nil }

// begin opens a series: of latencies from when a request was due, or from when it was sent.
func (w *wrk) begin(uncorrected bool, out *rows) {
	name, how := "", "from when wrk2's schedule wanted the request; wrk has none and counts from sending"
	if uncorrected {
		name, how = "uncorrected", "from when the request was sent: waiting for the connection is left out"
	}
	w.series, _ = out.of([]byte(name), Histograms, "wrk")
	w.series.Header.Set(KeyTarget, w.target)
	w.series.Header.Set("latency", how)
	w.spectrum, w.shares = spectrum{}, nil
}

// percentile reads "50.000%    6.67ms".
func (w *wrk) percentile(text []byte) error {
	before, after, _ := bytes.Cut(text, []byte("%"))
	of, err := strconv.ParseFloat(string(before), 64)
	value, ok := wrkTime(bytes.TrimSpace(after))
	if err != nil || !ok {
		return nil // a line of the thread statistics
	}
	w.shares = append(w.shares, share{of / 100, value})
	return nil
}

// wrkTime reads a time with its unit: 635.91us, 6.67ms, 1.20s, 2.00m.
func wrkTime(text []byte) (time.Duration, bool) {
	end := len(text)
	for end > 0 && (text[end-1] < '0' || text[end-1] > '9') {
		end--
	}
	unit, ok := map[string]time.Duration{"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour}[string(text[end:])]
	if !ok {
		return 0, false
	}
	if unit > time.Second { // parseNanos takes powers of ten
		v, err := strconv.ParseFloat(string(text[:end]), 64)
		return time.Duration(v * float64(unit)), err == nil && v < 1e6
	}
	d, err := parseNanos(text[:end], unit)
	return d, err == nil
}

// total reads "60018 requests in 30.00s, …". Where there was no spectrum it turns the
// percentiles into counts, which are as exact as the percentiles are.
func (w *wrk) total(text []byte, out *rows) error {
	var n int64
	if err := parseInt(&n, firstWord(text)); err != nil {
		return fmt.Errorf("requests %w", err)
	}
	if w.spectra > 0 || w.series == nil || len(w.shares) == 0 {
		return nil
	}
	out.say("only percentiles were printed: the counts between them are shares of all requests, and nothing is known above the last")
	below, low := int64(0), time.Duration(0)
	for _, s := range w.shares {
		upTo := int64(s.of*float64(n) + 0.5)
		if upTo < below || s.value < low {
			return fmt.Errorf("percentile %g: below the one before it", s.of*100)
		}
		if upTo > below {
			b := out.bin(w.series)
			b.Low, b.High, b.Count = low, Some(s.value), upTo-below
		}
		below, low = upTo, s.value
	}
	if n > below {
		b := out.bin(w.series)
		b.Low, b.Count = low, n-below
	}
	return nil
}
