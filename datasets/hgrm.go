package datasets

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"
)

// Percentiles of an HDR histogram as its libraries print them (.hgrm): a value, which share
// is no greater, and how many that are. Each line is a bin that begins behind the value
// above. The file does not say what its values are in.
func bindHgrm(fs *flag.FlagSet) func() (Format, error) {
	unit := fs.String("unit", "ms", "`unit` of the values: s, ms, us or ns")
	return func() (Format, error) {
		scale, err := parseScale("unit", *unit)
		return foreign{isHgrm, byLine(func() dialect { return &hgrm{unit: scale, unitName: *unit} })}, err
	}
}

type hgrm struct {
	spectrum
	unit     time.Duration
	unitName string
	lines    int
	headed   bool // its first line is that of the columns' names
}

func isHgrm(head []byte) bool {
	for line := range firstLines(head) {
		if len(bytes.TrimSpace(line)) > 0 {
			return isSpectrumHeader(line)
		}
	}
	return false
}

func isSpectrumHeader(line []byte) bool {
	var f columns
	splitSpectrum(&f, line)
	return f.n == 4 && string(f.cell[0]) == "Value" && string(f.cell[1]) == "Percentile" && string(f.cell[2]) == "TotalCount"
}

// splitSpectrum splits at blanks, or at commas where there are any.
func splitSpectrum(f *columns, line []byte) {
	if bytes.IndexByte(line, ',') < 0 {
		f.split(line)
		return
	}
	f.splitCommas(line)
	for i := range min(f.n, len(f.cell)) {
		f.cell[i] = bytes.Trim(f.cell[i], `"`)
	}
}

func (h *hgrm) line(text []byte, out *rows) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	h.lines++
	switch header := isSpectrumHeader(text); {
	case header:
		h.headed = h.headed || h.lines == 1
		return nil
	case !h.headed:
		return fmt.Errorf("%s: want the names of the columns first: Value, Percentile, TotalCount, 1/(1-Percentile)", clip(text))
	}
	s, first := out.of(nil, Histograms, "percentiles of an HDR histogram")
	if first {
		out.say("the file does not say what its values are in: they are taken as %s (--format hgrm:unit=…)", h.unitName)
	}
	return h.row(text, h.unit, s, out)
}

func (h *hgrm) end(out *rows) error {
	h.check(out)
	return nil
}

// spectrum is a list of percentiles as it is read.
type spectrum struct {
	f        columns
	value    time.Duration // of the line above
	count    int64         // up to it
	promised int64         // what the footer says
	any      bool
}

// row reads a line of a spectrum, or of its footer.
func (p *spectrum) row(text []byte, unit time.Duration, s *Series, out *rows) error {
	if trimmed := bytes.TrimSpace(text); bytes.HasPrefix(trimmed, []byte("#[")) {
		return p.footer(trimmed, s)
	}
	f := &p.f
	splitSpectrum(f, text)
	if f.n != 3 && f.n != 4 {
		return fmt.Errorf("%s: want value, percentile, count and 1/(1-percentile)", clip(text))
	}
	value, share, count := f.nanos(0, unit), f.real(1), int64(f.nanos(2, 1))
	if f.err != nil {
		return f.err
	}
	if err := p.follows(value, share, count); err != nil {
		return fmt.Errorf("%s: %w", clip(text), err)
	}
	if count > p.count {
		b := out.bin(s)
		if p.any && value > p.value {
			b.Low = p.value
		}
		b.High, b.Count = Some(value), count-p.count
	}
	p.value, p.count, p.any = value, count, true
	return nil
}

// follows says why a line cannot come behind the one before.
func (p *spectrum) follows(value time.Duration, share float64, count int64) error {
	switch {
	case value < 0 || share < 0 || share > 1:
		return errors.New("want a value from 0 on and a percentile from 0 to 1")
	case p.any && (value < p.value || count < p.count):
		return errors.New("below the line above it")
	}
	return nil
}

// footer keeps what a histogram says of itself: #[Max = 9.4, Total count = 475109].
func (p *spectrum) footer(text []byte, s *Series) error {
	inside := strings.Trim(string(text), "#[]")
	for part := range strings.SplitSeq(inside, ",") {
		key, value, found := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found {
			return fmt.Errorf("%s: want names and values", clip(text))
		}
		switch key {
		case "Mean", "StdDeviation", "Max":
			s.Header.Set("told-"+strings.ToLower(key), value)
		case "Total count":
			if err := parseInt(&p.promised, []byte(value)); err != nil {
				return fmt.Errorf("total count %w", err)
			}
		}
	}
	return nil
}

// check holds the lines to what the footer says of all.
func (p *spectrum) check(out *rows) {
	if p.promised > 0 && p.promised != p.count {
		out.say("the footer counts %d values, and the lines %d", p.promised, p.count)
	}
}
