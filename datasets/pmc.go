package datasets

import (
	"bytes"
	"flag"
	"strings"
)

// pmc prints what a PTP clock answers to GET, a key and a value a line. Its answers of
// CURRENT_DATA_SET and TIME_STATUS_NP are claims; a positive offset is a clock that is
// ahead of its master.
func bindPMC(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isPMC, byLine(func() dialect { return &pmc{} }))(fs)
}

type pmc struct {
	claim Claim
	open  bool
	err   error
}

func isPMC(head []byte) bool { return bytes.HasPrefix(head, []byte("sending: GET ")) }

func (p *pmc) line(text []byte, out *rows) error {
	var f columns
	f.split(text)
	switch {
	case f.n >= 6 && string(f.cell[1]) == "seq" && string(f.cell[3]) == "RESPONSE":
		err := p.end(out)
		set := string(f.cell[f.n-1])
		if p.open = set == "CURRENT_DATA_SET" || set == "TIME_STATUS_NP"; p.open {
			p.claim = Claim{Source: "ptp4l " + string(f.cell[0]), Status: Synchronised}
			p.claim.AddFact("set", set)
		}
		return err
	case p.open && f.n == 2:
		p.value(string(f.cell[0]), &f)
	}
	return nil
}

func (p *pmc) value(key string, f *columns) {
	c := &p.claim
	switch key {
	case "offsetFromMaster", "master_offset":
		c.Offset = Some(-f.nanos(1, 1))
	case "gmIdentity":
		c.Reference = string(f.cell[1])
	case "gmPresent":
		if string(f.cell[1]) == "false" {
			c.Status, c.Why = FreeRunning, "no grandmaster is present"
		}
	}
	if f.err != nil {
		p.err, p.open = f.err, false
		return
	}
	if key = strings.ToLower(key); len(c.Facts) < 1000 {
		c.AddFact(key, string(f.cell[1]))
	}
}

func (p *pmc) end(out *rows) error {
	err := p.err
	if p.open {
		s, first := out.of(nil, Claims, "pmc")
		if first {
			s.Header.Set("sign", signTurned)
			out.say("pmc does not say when it asked: all instants are 0")
		}
		*out.claim(s) = p.claim
	}
	p.open, p.err = false, nil
	return err
}
