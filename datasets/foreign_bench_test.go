package datasets_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tickmark/tickmark/datasets"
)

// BenchmarkImport reads the last lines of each log of lines, over and over.
func BenchmarkImport(b *testing.B) {
	paths, err := filepath.Glob(samplesOf("*") + "/*.log")
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range paths {
		sample, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		rel, _ := filepath.Rel(samplesOf(""), path)
		given, _, err := datasets.Formats().Parse("format", filepath.Dir(rel))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(rel, func(b *testing.B) {
			text := bytes.Repeat(sample, 1+(4<<20)/len(sample))
			lines := bytes.Count(text, []byte("\n"))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				s, err := datasets.Open("bench", bytes.NewReader(text), given)
				if err != nil {
					b.Fatal(err)
				}
				for f := s.(*datasets.Foreign); ; {
					if _, _, ok := f.Any(); !ok {
						break
					}
				}
				n += lines
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
