package datasets

import (
	"flag"
	"io"
	"path/filepath"
	"strings"

	"github.com/tickmark/tickmark/datasets/spec"
)

// Encoder writes the rows of one trace in some form.
type Encoder interface {
	Write(row Row) error
	// Close ends the file with what only the end of the trace told. It does not close
	// the writer below.
	Close(trailer ...Field) error
}

// Export is a form that traces are handed on in.
type Export interface {
	// Begin returns an encoder of a trace with this header. An error says why a trace of
	// its kind cannot have that form.
	Begin(w io.Writer, h *Header) (Encoder, error)
	// Loses says what of a trace the form cannot hold, or "".
	Loses() string
}

// Exports lists the forms; a file's name ends in a dot and the name of its form.
func Exports() spec.Table[Export] {
	return spec.Table[Export]{
		{Name: "trace", Summary: "tickmark's own text", Bind: bindExport(nativeExport{})},
		{Name: "parquet", Summary: "columns, compressed, for DuckDB, pandas and Spark; the header in the file's metadata", Bind: bindExport(parquetExport{})},
		{Name: "csv", Summary: "a line a row, the header as # comments; absent cells are empty", Bind: bindExport(csvExport{})},
		{Name: "jsonl", Summary: "an object a row, absent values null", Bind: bindExport(jsonExport{})},
		{Name: "prom", Summary: "what Prometheus scrapes: a histogram of the latencies and a counter of outcomes", Bind: bindExport(promExport{})},
		{Name: "hgrm", Summary: "percentiles of the latencies in ms, as HdrHistogram prints them", Bind: bindExport(hgrmExport{})},
		{Name: "hlog", Summary: "a log of HDR histograms, one a second", Bind: bindExport(hlogExport{})},
	}
}

func bindExport(e Export) func(*flag.FlagSet) func() (Export, error) {
	return func(*flag.FlagSet) func() (Export, error) {
		return func() (Export, error) { return e, nil }
	}
}

// ExportFor returns the form that a file's name asks for: that of its ending, an ending of
// compression left out, and the native one for any other.
func ExportFor(name string) string {
	for _, zip := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, zip)
	}
	ending := strings.TrimPrefix(filepath.Ext(name), ".")
	for _, known := range Exports().Names() {
		if ending == known {
			return known
		}
	}
	return "trace"
}

type nativeExport struct{}

func (nativeExport) Begin(w io.Writer, h *Header) (Encoder, error) { return NewWriter(w, h) }
func (nativeExport) Loses() string                                 { return "" }
