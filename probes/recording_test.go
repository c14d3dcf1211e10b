package probes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

// recording writes what a probe measures as a trace, so that a test reads what a
// user would.
type recording struct {
	file   bytes.Buffer
	writer *datasets.Writer
	ended  bool
	onRow  func(rows int64) error // called after each row
}

func (r *recording) Begin(h *datasets.Header) (err error) {
	if r.writer != nil {
		return errors.New("begun twice")
	}
	r.writer, err = datasets.NewWriter(&r.file, h)
	return err
}

func (r *recording) Record(row datasets.Row) error {
	if r.writer == nil || r.ended {
		return errors.New("a row outside the recording")
	}
	if err := r.writer.Write(row); err != nil || r.onRow == nil {
		return err
	}
	return r.onRow(r.writer.Rows())
}

func (r *recording) End(trailer ...datasets.Field) error {
	if r.ended {
		return errors.New("ended twice")
	}
	r.ended = true
	return r.writer.Close(trailer...)
}

// trace is a recording read back.
type trace[T any] struct {
	*datasets.Header
	rows []T
}

// read reads a recording whose rows are of type T; it must be whole.
func read[T any, R interface {
	*T
	datasets.Row
}](t *testing.T, rec *recording) trace[T] {
	t.Helper()
	s, err := datasets.Open("recording", bytes.NewReader(rec.file.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	var tr trace[T]
	for {
		var row T
		if !s.Next(R(&row)) {
			break
		}
		tr.rows = append(tr.rows, row)
	}
	if s.Err() != nil || len(s.Warnings()) > 0 {
		t.Fatalf("error %v, warnings %q", s.Err(), s.Warnings())
	}
	tr.Header = s.Header()
	return tr
}

// number returns a header value that must be a whole number.
func (tr trace[T]) number(t *testing.T, key string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(tr.Text(key), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return n
}

func parse(t *testing.T, spec string) probes.Probe {
	t.Helper()
	p, _, err := probes.Probes().Parse("probe", spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// measure runs a probe to its end.
func measure[T any, R interface {
	*T
	datasets.Row
}](t *testing.T, spec, target string, plan probes.Plan) trace[T] {
	t.Helper()
	rec := &recording{}
	if err := parse(t, spec).Run(t.Context(), target, plan, rec); err != nil {
		t.Fatal(err)
	}
	return read[T, R](t, rec)
}

// patience is how long a test listens for what must come; nothing waits for it.
const patience = 30 * time.Second

func listening(plan probes.Plan, d time.Duration) probes.Plan {
	plan.Listen = datasets.Some(d)
	return plan
}

// wantSamples checks what every recording of the udp probe keeps.
func wantSamples(t *testing.T, tr trace[datasets.Sample], n int) {
	t.Helper()
	if len(tr.rows) != n {
		t.Fatalf("%d rows, want %d", len(tr.rows), n)
	}
	last := datasets.Instant(-1)
	for i, s := range tr.rows {
		if s.Seq < int64(i) || s.Call != s.Seq || s.Attempt != 1 || s.Due < last || s.Sent < s.Due || s.Inflight < 1 {
			t.Fatalf("row %d: %+v", i, s)
		}
		last = s.Due
		switch latency, answered := s.Latency(); {
		case answered != (s.Copies > 0):
			t.Fatalf("%s with %d copies: %+v", s.Outcome, s.Copies, s)
		case answered && (s.Elapsed <= 0 || s.Stall < 0 || s.Stall > latency):
			t.Fatalf("an answer before it was asked for: %+v", s)
		}
	}
}

// outcomes counts the rows of each outcome: "97 replied, 3 timed-out".
func outcomes(tr trace[datasets.Sample]) string {
	var counts [6]int
	for _, s := range tr.rows {
		counts[s.Outcome]++
	}
	var parts []string
	for o, n := range counts {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, datasets.Outcome(o)))
		}
	}
	return strings.Join(parts, ", ")
}

// stoppedBy runs a probe that is cancelled when it records its n-th row.
func stoppedBy(t *testing.T, n int64, spec, target string, plan probes.Plan) *recording {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	rec := &recording{onRow: func(rows int64) error {
		if rows == n {
			cancel()
		}
		return nil
	}}
	if err := parse(t, spec).Run(ctx, target, plan, rec); err != nil {
		t.Fatal(err)
	}
	if !rec.ended {
		t.Fatal("a cancelled recording was not ended")
	}
	return rec
}
