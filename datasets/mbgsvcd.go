package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
)

// mbgsvcd -f, Meinberg's daemon: the time of a card and that of the host, read together, in
// this order as far as its output tells. Its own offset has the quarter of a microsecond
// that a float64 leaves of a date; this one is the difference of the two, of the same
// doubt. θ takes the card as the server: positive is a host that is slow.
func bindMbgsvcd(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isMbgsvcd, byLine(func() dialect { return &mbgsvcd{} }))(fs)
}

type mbgsvcd struct{ f columns }

func isMbgsvcd(head []byte) bool { return bytes.Contains(head, []byte("mbgsvcd v")) }

func (m *mbgsvcd) line(text []byte, out *rows) error {
	if !bytes.Contains(text, []byte(" ltcy: ")) {
		return nil
	}
	f := &m.f
	f.split(text)
	if f.n < 8 || !bytes.HasSuffix(f.cell[0], []byte(":")) {
		return fmt.Errorf("%s: want card, date, time, two times since 1970 and an offset", clip(text))
	}
	f.cell[5] = bytes.TrimSuffix(f.cell[5], []byte(","))
	card, host := f.seconds(3), f.seconds(4)
	f.seconds(5)
	if f.err != nil {
		return f.err
	}
	s, first := out.of(bytes.TrimSuffix(f.cell[0], []byte(":")), SeriesKind, "mbgsvcd")
	if first {
		offsetSeries(s.Header, "θ is the first of the two times minus the second, which are taken as the card's and the host's", "", "")
		out.say("mbgsvcd prints float64 seconds: offsets are multiples of some 238 ns")
		s.Header.Extra = []string{"told_ns"}
	}
	p := out.point(s)
	p.At, p.Offset = s.wall(host), Some(card-host)
	p.Extra = f.extra.begin().span(f.seconds(5)).String()
	p.Status = strings.TrimSpace(string(f.cell[f.n-1]))
	if p.Status != "*" {
		p.Status = ""
	}
	return f.err
}

func (*mbgsvcd) end(*rows) error { return nil }
