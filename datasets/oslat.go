package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"time"
)

// oslat's histogram of how long a spinning thread was interrupted, in microseconds, a
// series a core. Its last bin has all that is longer.
func bindOslat(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isOslat, byLine(func() dialect { return &oslat{} }))(fs)
}

type oslat struct {
	f     columns
	cores [][]byte
}

func isOslat(head []byte) bool { return bytes.HasPrefix(head, []byte("oslat V ")) }

func (o *oslat) line(text []byte, out *rows) error {
	f := &o.f
	f.split(text)
	switch {
	case f.n > 1 && f.n <= len(f.cell) && string(f.cell[0]) == "Core:":
		o.cores = nil
		for _, core := range f.cell[1:f.n] {
			o.cores = append(o.cores, bytes.Clone(core))
		}
	case len(o.cores) > 0 && f.n > len(o.cores)+1 && string(f.cell[1]) == "(us):" && allDigits(f.cell[0]):
		return o.bins(bytes.Contains(text, []byte("including overflows")), out)
	}
	return nil
}

func (*oslat) end(*rows) error { return nil }

// bins reads "031 (us):  4  0", the last one with what is above it.
func (o *oslat) bins(open bool, out *rows) error {
	f := &o.f
	us := f.nanos(0, time.Microsecond)
	for i, core := range o.cores {
		count := f.whole(i + 2)
		if f.err != nil {
			return f.err
		}
		if count < 0 {
			return fmt.Errorf("core %s: a count below zero", core)
		}
		if count == 0 {
			continue
		}
		s, first := out.of(append([]byte("core "), core...), Histograms, "oslat")
		if first {
			s.Header.Set("latency", "how long a thread that never sleeps was not run")
		}
		b := out.bin(s)
		b.Low, b.Count = us, int64(count)
		if !open {
			b.High = Some(us + time.Microsecond - 1)
		}
	}
	return f.err
}
