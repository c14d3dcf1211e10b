package datasets

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"time"
)

// Results of RIPE Atlas, in an array or an object a line: of ping, in milliseconds, and of
// NTP, whose four times since 1900 are rows that can be checked. Atlas's own offset is
// client minus server; θ, computed from the times, is the other way round. One series a
// probe and target.
func bindAtlas(fs *flag.FlagSet) func() (Format, error) {
	return bindJSON(func(head []byte) bool { return isJSON(head, "prb_id", "msm_id", "result") }, func() jsonReader { return atlas{} })(fs)
}

type atlas struct{}

type atlasResult struct {
	Type   string        `json:"type"`
	Probe  decimalOf     `json:"prb_id"`
	Target string        `json:"dst_name"`
	Addr   string        `json:"dst_addr"`
	At     decimalOf     `json:"timestamp"`
	Size   int           `json:"size"`
	Result []atlasPacket `json:"result"`

	Stratum   decimalOf `json:"stratum"`
	RootDelay decimalOf `json:"root-delay"`
	RootDisp  decimalOf `json:"root-dispersion"`
	Reference string    `json:"ref-id"`
}

type atlasPacket struct {
	RTT   decimalOf       `json:"rtt"`
	Lost  string          `json:"x"`
	Error json.RawMessage `json:"error"`
	T1    decimalOf       `json:"origin-ts"`
	T2    decimalOf       `json:"receive-ts"`
	T3    decimalOf       `json:"transmit-ts"`
	T4    decimalOf       `json:"final-ts"`
}

func (a atlas) wants(path []string) func(json.RawMessage, *rows) error {
	if at(path, "[]") || len(path) == 0 {
		return a.result
	}
	return nil
}

func (atlas) end(*rows) error { return nil }

func (a atlas) result(raw json.RawMessage, out *rows) error {
	if len(raw) > 0 && raw[0] == '[' {
		var all []json.RawMessage
		if err := json.Unmarshal(raw, &all); err != nil {
			return err
		}
		for _, one := range all {
			if err := a.result(one, out); err != nil {
				return err
			}
		}
		return nil
	}
	var r atlasResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	began, err := r.At.span(time.Second)
	if err != nil {
		return fmt.Errorf("timestamp %w", err)
	}
	name := []byte("probe " + string(r.Probe) + " to " + r.Target)
	switch r.Type {
	case "ping":
		return r.pings(name, began, out)
	case "ntp":
		return r.exchanges(name, began, out)
	}
	out.say("results of type %q are not read: want ping or ntp", r.Type)
	return nil
}

// atlasInterval is between the packets of one result, unless the measurement says
// otherwise, which the result does not.
const atlasInterval = time.Second

func (r *atlasResult) pings(name []byte, began time.Duration, out *rows) error {
	s, first := out.of(name, RTT, "RIPE Atlas ping")
	if first {
		s.Header.Set("address", r.Addr)
		s.Header.SetDuration("resolution-of-due", atlasInterval)
	}
	for i, p := range r.Result {
		row := out.sample(s)
		row.Due = s.wall(began + time.Duration(i)*atlasInterval)
		row.Sent, row.Size = row.Due, max(r.Size, 0)
		switch {
		case p.RTT != "":
			elapsed, err := p.RTT.span(time.Millisecond)
			if err != nil {
				return fmt.Errorf("rtt %w", err)
			}
			row.Elapsed = elapsed
		case p.Lost != "":
			row.Outcome, row.Copies = TimedOut, 0
		default:
			row.Outcome, row.Copies = LostLocal, 0
		}
	}
	return nil
}

func (r *atlasResult) exchanges(name []byte, began time.Duration, out *rows) error {
	s, first := out.of(name, Exchanges, "RIPE Atlas NTP")
	if first {
		s.Header.Set("address", r.Addr)
		s.Header.Set("stamps", "t1=user t2,t3=user t4=user; the times have some 0.1 µs of a float64")
		s.Header.Set("sign", "θ from the four times; the offset that Atlas prints is its negative")
	}
	for i := range r.Result {
		p := &r.Result[i]
		e := out.exchange(s)
		n := s.calls
		s.calls++
		e.Sample = Sample{Seq: n, Call: n, Attempt: 1, Copies: 1, Inflight: 1, Due: s.wall(began)}
		e.Sent = e.Due
		if p.T1 == "" || p.T4 == "" {
			e.Outcome, e.Copies = TimedOut, 0
			continue
		}
		if err := p.stamps(e); err != nil {
			return err
		}
		e.Stratum, e.Reference = wholeOf(r.Stratum), r.Reference
		if d, err := r.RootDelay.nanos(time.Second); err == nil {
			e.RootDelay = Some(d)
		}
		if d, err := r.RootDisp.nanos(time.Second); err == nil {
			e.RootDispersion = Some(d)
		}
	}
	return nil
}

func wholeOf(d decimalOf) Optional[int] {
	n, ok := digits([]byte(d))
	if !ok || len(d) > 9 {
		return Optional[int]{}
	}
	return Some(n)
}

// stamps reads the four times, seconds since 1900.
func (p *atlasPacket) stamps(e *Exchange) error {
	var f columns
	for i, text := range []decimalOf{p.T1, p.T2, p.T3, p.T4} {
		f.cell[i] = []byte(text)
	}
	e.T1, e.T2, e.T3, e.T4 = stamp1900(&f, 0, Local), stamp1900(&f, 1, Remote), stamp1900(&f, 2, Remote), stamp1900(&f, 3, Local)
	if f.err != nil {
		return f.err
	}
	took, ok := e.WallElapsed()
	if !ok || took < 0 {
		return errors.New("final-ts is before origin-ts")
	}
	e.Elapsed = took
	return nil
}
