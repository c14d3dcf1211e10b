package datasets_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

func benchSample(i int) datasets.Sample {
	return datasets.Sample{
		Seq: int64(i), Call: int64(i), Attempt: 1, Due: datasets.Instant(i) * 5_000_000, Sent: datasets.Instant(i)*5_000_000 + 71_234,
		Elapsed: 61_234 * time.Nanosecond, Copies: 1, Stall: 9_876, Inflight: 1, Size: 96,
	}
}

func BenchmarkWrite(b *testing.B) {
	w, err := datasets.NewWriter(io.Discard, newHeader(datasets.RTT))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var s datasets.Sample
	for i := 0; b.Loop(); i++ {
		s = benchSample(i)
		if err := w.Write(&s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	const n = 100_000
	rows := make([]datasets.Row, n)
	for i := range rows {
		s := benchSample(i)
		rows[i] = &s
	}
	data := write(b, newHeader(datasets.RTT), rows...)
	b.ReportAllocs()
	b.ResetTimer()
	var s datasets.Sample
	read := 0
	for read < b.N {
		r, err := datasets.NewReader("bench", bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		for read < b.N && r.Next(&s) {
			read++
		}
	}
	b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "rows/s")
}
