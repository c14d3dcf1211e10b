package analysis

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// HDR is a histogram of constant relative precision, for display and exchange with
// the many tools that write HdrHistogram V2. It knows no censoring and no limits:
// [Latencies] answers for numbers, this one for pictures and files.
type HDR struct{ h *hdrhistogram.Histogram }

// NewHDR returns an empty histogram that tells durations apart by lowest at best, up
// to highest, with 1 to 5 significant digits.
func NewHDR(lowest, highest time.Duration, digits int) (*HDR, error) {
	switch {
	case lowest < 1:
		return nil, fmt.Errorf("histogram: lowest %v: want at least 1ns", lowest)
	case lowest > math.MaxInt64>>20 || highest < 2*lowest:
		return nil, fmt.Errorf("histogram: highest %v: want at least twice the lowest, %v, and that under 100 days", highest, lowest)
	case digits < 1 || digits > 5:
		return nil, fmt.Errorf("histogram: %d significant digits: want 1 to 5", digits)
	}
	return &HDR{hdrhistogram.New(int64(lowest), int64(highest), digits)}, nil
}

// HDR returns the answered latencies as a histogram of three digits, for exchange. What
// timed out is not in it: a histogram has no place for "more than that".
func (l *Latencies) HDR() (*HDR, error) {
	answered, _ := l.Sorted()
	highest := time.Hour
	if n := len(answered); n > 0 {
		highest = max(highest, answered[n-1])
	}
	h, err := NewHDR(1, highest, 3)
	if err != nil {
		return nil, err
	}
	for _, d := range answered {
		if !h.Record(d) {
			return nil, fmt.Errorf("histogram: %v: outside 1ns to %v", d, highest)
		}
	}
	return h, nil
}

// Record counts d, and returns false if it lies outside the histogram.
func (h *HDR) Record(d time.Duration) bool { return h.h.RecordValue(int64(d)) == nil }

// Total returns how many durations were counted.
func (h *HDR) Total() int64 { return h.h.TotalCount() }

// Quantile returns the upper end of the bucket that HdrHistogram's rule puts the
// q-quantile in, and false if the histogram is empty.
func (h *HDR) Quantile(q float64) (time.Duration, bool) {
	return time.Duration(h.h.ValueAtPercentile(q * 100)), h.Total() > 0
}

// Max returns the upper end of the highest bucket in use.
func (h *HDR) Max() time.Duration { return time.Duration(h.h.Max()) }

// Encode returns the histogram in the V2 compressed form of .hlog files, base64.
func (h *HDR) Encode() (string, error) {
	b, err := h.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("histogram: %w", err)
	}
	return string(b), nil
}

// DecodeHDR reads what Encode and other HdrHistogram libraries write.
func DecodeHDR(text string) (*HDR, error) {
	h, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("histogram: %w", err)
	}
	return &HDR{h}, nil
}

// WritePercentiles writes the percentile listing of .hgrm files, values in per (ms
// is usual).
func (h *HDR) WritePercentiles(w io.Writer, per time.Duration) error {
	_, err := h.h.PercentilesPrint(w, 5, float64(per))
	return err
}
