package datasets

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/tickmark/tickmark/datasets/spec"
)

// Stream is a trace being read, whatever file it comes from.
type Stream interface {
	// Header returns how the trace was made; it is complete after the last Next.
	Header() *Header
	// Next reads one row of the header's kind, and false at the end. An exchange
	// trace can be read as RTT rows too.
	Next(Row) bool
	// Err returns what ended the stream early, or nil.
	Err() error
	// Warnings returns, after the last Next, what a user must know of the file.
	Warnings() []string
}

// Format reads one kind of file.
type Format interface {
	// Recognise reports whether head, the first bytes of a file, is of this format.
	Recognise(head []byte) bool
	// Open reads what stands before the rows. The name is for errors.
	Open(name string, r io.Reader) (Stream, error)
}

// Formats lists what tickmark reads.
func Formats() spec.Table[Format] {
	return spec.Table[Format]{
		{Name: "native", Summary: "tickmark's own text trace, every version of it", Bind: bindNative},
		{Name: "chrony-measurements", Summary: "chronyd's measurements.log, raw or not: θ, delay and dispersion, a series a server", Bind: bindForeign(isChronyMeasurements, newChronyMeasurements)},
		{Name: "gclog", Summary: "the pauses in a Java GC log, unified (JDK 9 and later) or older", Bind: bindGCLog},
		{Name: "csv", Summary: "latencies in a named column of a CSV file (never guessed: name it)", Bind: bindCSV},
	}
}

type native struct{}

func bindNative(*flag.FlagSet) func() (Format, error) {
	return func() (Format, error) { return native{}, nil }
}

func (native) Recognise(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

func (native) Open(name string, r io.Reader) (Stream, error) {
	tr, err := NewReader(name, r)
	if err != nil {
		return nil, err
	}
	return tr, nil
}

// headSize is how much of a file a format sees before it recognises it.
const headSize = 8 << 10

// Open reads a trace from r, which may be compressed with gzip or zstd. The format
// is recognised by content unless given; name is for errors.
func Open(name string, r io.Reader, given Format) (Stream, error) {
	plain, err := Decompress(name, r)
	if err != nil {
		return nil, err
	}
	buffered, err := plainText(plain)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	head, err := buffered.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(head) == 0 && err != nil && !errors.Is(err, io.EOF) {
		return nil, cutOff(name)
	}
	if len(head) == 0 {
		return nil, fmt.Errorf("%s: empty: there is no trace in it", name)
	}
	if given != nil {
		return given.Open(name, buffered)
	}
	f, err := recognise(name, head)
	if err != nil {
		return nil, err
	}
	return f.Open(name, buffered)
}

// OpenSeries is Open for one series of a file that may hold several.
func OpenSeries(name, series string, r io.Reader, given Format) (Stream, error) {
	s, err := Open(name, r, given)
	if err != nil {
		return nil, err
	}
	f, several := s.(*Foreign)
	if !several {
		return nil, fmt.Errorf("%s: has rows of one series, which has no name: leave #%s out", name, series)
	}
	return f, f.Choose(series)
}

func recognise(name string, head []byte) (Format, error) {
	formats := Formats()
	for _, known := range formats.Names() {
		f, _, err := formats.Parse("format", known)
		if err == nil && f.Recognise(head) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s: begins with %s, which no format that tickmark reads does (it reads %s; --format forces one)",
		name, clip(head[:min(len(head), 16)]), strings.Join(formats.Names(), ", "))
}
