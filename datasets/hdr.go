package datasets

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/klauspost/compress/zlib"
)

// The cookies of HdrHistogram's compressed encodings, without the bits that say how wide a
// word is (AbstractHistogram.java and its forerunners). hdrhistogram-go reads the newest.
const (
	hdrV0        = 0x1c849309
	hdrV1        = 0x1c849302
	hdrV2        = 0x1c849304
	hdrPlainV1   = 0x1c849301 // what is compressed
	hdrWidthMask = 0xf0
)

// mostHDR is more bytes than a histogram of five digits over 64 bits has.
const mostHDR = 16 << 20

// hdrBar is the count of the values that a histogram takes for one.
type hdrBar struct{ low, high, count int64 }

// decodeHDR reads a compressed histogram in base64, and returns the values that were
// counted.
func decodeHDR(text []byte) (bars []hdrBar, err error) {
	h, err := decodeAny(text)
	if err != nil {
		return nil, err
	}
	for _, bar := range h.Distribution() {
		if bar.Count > 0 {
			bars = append(bars, hdrBar{bar.From, bar.To, bar.Count})
		}
	}
	return bars, nil
}

func decodeAny(text []byte) (*hdrhistogram.Histogram, error) {
	if len(text) < 16 {
		return nil, fmt.Errorf("%s: the histogram is cut off", clip(text))
	}
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(raw, text)
	if err != nil {
		return nil, fmt.Errorf("histogram: %w", err)
	}
	raw = raw[:n]
	if len(raw) < 8 {
		return nil, fmt.Errorf("%s: the histogram is cut off", clip(text))
	}
	switch cookie := binary.BigEndian.Uint32(raw) &^ hdrWidthMask; cookie {
	case hdrV2:
		return decodeV2(text)
	case hdrV1:
		return decodeV1(raw)
	case hdrV0:
		return nil, errors.New("a histogram of encoding version 0, which no writer has made since 2015: want version 1 or 2")
	default:
		return nil, fmt.Errorf("histogram: cookie %#x: want a compressed one of version 1 or 2", cookie)
	}
}

// decodeV2 hands the text to the library, once it is certain that it is bounded.
func decodeV2(text []byte) (h *hdrhistogram.Histogram, err error) {
	defer func() {
		if r := recover(); r != nil { // the library trusts what it unpacks
			h, err = nil, fmt.Errorf("histogram: %v", r)
		}
	}()
	h, err = hdrhistogram.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("histogram: %w", err)
	}
	return h, nil
}

// headerV1 is what an encoding of version 1 begins with.
type headerV1 struct {
	Cookie     uint32
	Length     int32
	Offset     int32
	Digits     int32
	Low, High  int64
	Conversion float64
}

func (h *headerV1) width() int { return int(h.Cookie&hdrWidthMask) >> 4 }

func (h *headerV1) valid() bool {
	known := h.Cookie&^hdrWidthMask == hdrPlainV1 && (h.width() == 2 || h.width() == 4 || h.width() == 8)
	return known && h.Digits >= 0 && h.Digits <= 5 && h.Low >= 1 && h.High <= math.MaxInt64/2 && h.High/2 >= h.Low
}

// decodeV1 reads the encoding of version 1: a header, and every count in a word of the
// width that its cookie tells.
func decodeV1(raw []byte) (*hdrhistogram.Histogram, error) {
	plain, err := unzip(raw)
	if err != nil {
		return nil, err
	}
	var h headerV1
	counts := bytes.NewReader(plain)
	if err := binary.Read(counts, binary.BigEndian, &h); err != nil || !h.valid() || counts.Len()%h.width() != 0 {
		return nil, errors.New("histogram: its header is not one of version 1")
	}
	plain = plain[len(plain)-counts.Len():]
	shape := hdrhistogram.New(h.Low, h.High, int(h.Digits)).Export()
	if n := len(plain) / h.width(); n > len(shape.Counts) {
		return nil, fmt.Errorf("histogram: %d counts where %d can be", n, len(shape.Counts))
	}
	for i := range len(plain) / h.width() {
		shape.Counts[i] = word(plain[i*h.width():], h.width())
		if shape.Counts[i] < 0 {
			return nil, errors.New("histogram: a count below zero")
		}
	}
	return hdrhistogram.Import(shape), nil
}

func word(b []byte, width int) int64 {
	switch width {
	case 2:
		return int64(binary.BigEndian.Uint16(b))
	case 4:
		return int64(binary.BigEndian.Uint32(b))
	}
	return int64(binary.BigEndian.Uint64(b))
}

// unzip returns what a compressed encoding holds.
func unzip(raw []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(raw[8:]))
	if err != nil {
		return nil, fmt.Errorf("histogram: %w", err)
	}
	defer z.Close()
	plain, err := io.ReadAll(io.LimitReader(z, mostHDR))
	if err != nil {
		return nil, fmt.Errorf("histogram: %w", err)
	}
	return plain, nil
}

// hdrCounts is a histogram of the latencies of answered attempts, three digits of each, up
// to a day.
type hdrCounts struct{ h *hdrhistogram.Histogram }

func newHDRCounts() *hdrCounts {
	return &hdrCounts{hdrhistogram.New(1, int64(24*time.Hour), 3)}
}

func (c *hdrCounts) add(form string, row Row) error {
	s, ok := sampleOf(row)
	if !ok {
		return fmt.Errorf("%s: a row of kind %q", form, row.Kind())
	}
	d, ok := s.Latency()
	if !ok {
		return nil
	}
	if err := c.h.RecordValue(int64(d)); err != nil {
		return fmt.Errorf("%s: latency %v: want at most a day", form, d)
	}
	return nil
}

// encode returns the greatest value and the histogram in base64.
func (c *hdrCounts) encode() (most int64, text []byte, err error) {
	text, err = c.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return c.h.Max(), text, err
}

// percentiles writes them in milliseconds, five steps to each halving of what is left.
func (c *hdrCounts) percentiles(w io.Writer) error {
	_, err := c.h.PercentilesPrint(w, 5, float64(time.Millisecond))
	return err
}
