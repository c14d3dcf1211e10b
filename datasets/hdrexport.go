package datasets

import (
	"fmt"
	"io"
	"time"
)

// hgrmExport writes percentiles in milliseconds, as HdrHistogram's tools print and plot them.
type hgrmExport struct{}

func (hgrmExport) Loses() string { return hdrLoses }

const hdrLoses = "a histogram of three digits has no order and no single values; attempts without an answer are not in it, so its percentiles are those of the answered ones"

func (hgrmExport) Begin(w io.Writer, h *Header) (Encoder, error) {
	if err := wantLatencies("hgrm", h); err != nil {
		return nil, err
	}
	return &hgrmEncoder{w: w, counts: newHDRCounts()}, nil
}

type hgrmEncoder struct {
	w      io.Writer
	counts *hdrCounts
}

func (e *hgrmEncoder) Write(row Row) error { return e.counts.add("hgrm", row) }

func (e *hgrmEncoder) Close(...Field) error { return e.counts.percentiles(e.w) }

// hlogExport writes a line for each second in which an attempt was due.
type hlogExport struct{}

func (hlogExport) Loses() string { return hdrLoses }

func (hlogExport) Begin(w io.Writer, h *Header) (Encoder, error) {
	if err := wantLatencies("hlog", h); err != nil {
		return nil, err
	}
	epoch, ok := h.Epoch()
	if !ok {
		epoch = time.Unix(0, 0)
	}
	_, err := fmt.Fprintf(w, "#[Histogram log format version 1.3]\n#[BaseTime: %d.%09d (seconds since epoch)]\n"+
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n", epoch.Unix(), epoch.Nanosecond())
	return &hlogEncoder{w: w, counts: newHDRCounts()}, err
}

// hlogEncoder gathers one interval at a time. A row that is due before it, which there
// may be where answers were sorted by their arrival, is counted in it.
type hlogEncoder struct {
	w        io.Writer
	counts   *hdrCounts
	interval Instant
	begun    bool
}

const hlogInterval = Instant(time.Second)

func (e *hlogEncoder) Write(row Row) error {
	if s, ok := sampleOf(row); ok {
		at := s.Due - s.Due%hlogInterval
		if e.begun && at > e.interval {
			if err := e.flush(); err != nil {
				return err
			}
		}
		if !e.begun || at > e.interval {
			e.interval, e.begun = at, true
		}
	}
	return e.counts.add("hlog", row)
}

func (e *hlogEncoder) flush() error {
	most, text, err := e.counts.encode()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.w, "%.3f,%.3f,%.6f,%s\n", time.Duration(e.interval).Seconds(), time.Duration(hlogInterval).Seconds(), float64(most)/1e6, text)
	e.counts = newHDRCounts()
	return err
}

func (e *hlogEncoder) Close(...Field) error {
	if !e.begun {
		return nil
	}
	return e.flush()
}
