package datasets

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"time"
)

// A log of HDR histograms (.hlog): a line for each interval with its start, length,
// greatest value and a compressed histogram; a tag makes a series of its own. Values are
// taken as nanoseconds, which is what the log's own greatest value, in ms, says; log
// writers that count something else can be told by it.
func bindHlog(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isHlog, byLine(func() dialect { return &hlog{} }))(fs)
}

type hlog struct {
	start   time.Duration // of the log, since 1970
	base    Optional[time.Duration]
	columns columns
}

const hlogLegend = `"StartTimestamp","Interval_Length"`

func isHlog(head []byte) bool {
	for line := range firstLines(head) {
		switch {
		case bytes.HasPrefix(line, []byte("#[Histogram log format version ")), bytes.HasPrefix(line, []byte(hlogLegend)):
			return true
		case bytes.HasPrefix(line, []byte("#")), len(line) == 0:
		default:
			_, at, isPayload := hlogParts(line)
			return isPayload && len(at) == 3
		}
	}
	return false
}

// hlogParts splits "Tag=x,start,length,max,payload".
func hlogParts(line []byte) (tag []byte, numbers [][]byte, payload bool) {
	rest, tagged := bytes.CutPrefix(line, []byte("Tag="))
	if tagged {
		tag, rest, _ = bytes.Cut(rest, []byte(","))
	}
	cells := bytes.Split(rest, []byte(","))
	last := len(cells) - 1
	return tag, cells[:last], bytes.HasPrefix(cells[last], []byte("HIST"))
}

func (h *hlog) line(text []byte, out *rows) error {
	switch {
	case len(text) == 0, bytes.HasPrefix(text, []byte(hlogLegend)):
		return nil
	case text[0] == '#':
		return h.comment(text)
	}
	tag, numbers, payload := hlogParts(text)
	if !payload || len(numbers) != 3 {
		return fmt.Errorf("%s: want start, length, greatest value and a histogram", clip(text))
	}
	f := &h.columns
	f.n, f.err = copy(f.cell[:], numbers), nil
	start, length := f.seconds(0), f.seconds(1)
	f.real(2)
	if f.err == nil && length < 0 {
		f.err = errors.New("the interval is shorter than nothing")
	}
	if f.err != nil {
		return f.err
	}
	bars, err := decodeHDR(text[bytes.LastIndexByte(text, ',')+1:])
	if err != nil {
		return err
	}
	s, first := out.of(tag, Histograms, "HDR histogram log")
	if first {
		s.Header.Set("unit", "values are taken as nanoseconds")
	}
	h.put(out, s, h.wall(start), length, bars)
	return nil
}

func (*hlog) end(*rows) error { return nil }

// comment reads #[StartTime: 1438867590.285 (seconds since epoch), …] and BaseTime.
func (h *hlog) comment(text []byte) error {
	for _, key := range []string{"StartTime", "BaseTime"} {
		value, found := bytes.CutPrefix(text, []byte("#["+key+": "))
		if !found {
			continue
		}
		at, err := parseNanos(firstWord(value), time.Second)
		if err != nil {
			return fmt.Errorf("%s %w", key, err)
		}
		if key == "StartTime" {
			h.start = at
		} else {
			h.base = Some(at)
		}
	}
	return nil
}

// wall returns when an interval began, since 1970. Starts count from the base time or,
// as the Java readers have it, from the log's start unless they lie within a year of it.
func (h *hlog) wall(start time.Duration) time.Duration {
	if base, ok := h.base.Value(); ok {
		return base + start
	}
	if start < h.start-365*24*time.Hour {
		return h.start + start
	}
	return start
}

// put adds a bin for each value that was counted, and an empty one if none was: that
// nothing happened is known, too.
func (h *hlog) put(out *rows, s *Series, wall, length time.Duration, bars []hdrBar) {
	at := s.wall(wall)
	if len(bars) == 0 {
		bars = []hdrBar{{}}
	}
	for _, bar := range bars {
		b := out.bin(s)
		b.At, b.Length, b.Count = at, Some(length), bar.count
		b.Low, b.High = time.Duration(bar.low), Some(time.Duration(bar.high))
	}
}
