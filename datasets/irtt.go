package datasets

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"
)

// irtt's JSON: a round trip for each packet, with which way a lost one was lost. Duplicates
// are only counted in it.
func bindIRTT(fs *flag.FlagSet) func() (Format, error) {
	return bindJSON(func(head []byte) bool { return isJSON(head, "irtt", "json_format") }, func() jsonReader { return &irtt{} })(fs)
}

type irtt struct {
	target string
	extra  extraCells
}

type irttStamp struct {
	Wall      decimalOf `json:"wall"`
	Monotonic decimalOf `json:"monotonic"`
}

type irttTrip struct {
	Seq    int64     `json:"seqno"`
	Lost   decimalOf `json:"lost"` // "false", "true", "true_up", "true_down"
	Stamps struct {
		Client struct {
			Send irttStamp `json:"send"`
		} `json:"client"`
	} `json:"timestamps"`
	Delay struct {
		RTT     decimalOf `json:"rtt"`
		Send    decimalOf `json:"send"`
		Receive decimalOf `json:"receive"`
	} `json:"delay"`
}

func (i *irtt) wants(path []string) func(json.RawMessage, *rows) error {
	switch {
	case at(path, "config"):
		return i.config
	case at(path, "stats"):
		return i.stats
	case at(path, "round_trips", "[]"):
		return i.trip
	}
	return nil
}

func (i *irtt) end(*rows) error { return nil }

func (i *irtt) series(out *rows) *Series {
	s, first := out.of(nil, RTT, "irtt")
	if first {
		s.Header.Extra = []string{"lost", "out_ns", "back_ns"}
		if i.target != "" {
			s.Header.Set(KeyTarget, i.target)
		}
	}
	return s
}

func (i *irtt) config(raw json.RawMessage, out *rows) error {
	var c struct {
		Remote string `json:"remote_address"`
		Params struct {
			Interval int64 `json:"interval"`
		} `json:"params"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	i.target = c.Remote
	i.series(out).Header.Set("interval", time.Duration(c.Params.Interval).String())
	return nil
}

func (i *irtt) stats(raw json.RawMessage, out *rows) error {
	var s struct {
		Duplicates int64 `json:"duplicates"`
		Late       int64 `json:"late_packets"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	if s.Duplicates > 0 {
		out.say("%d duplicates were received, and irtt does not say of which packets: copies are not in the rows", s.Duplicates)
	}
	i.series(out).Header.Set("duplicates", fmt.Sprint(s.Duplicates))
	return nil
}

func (i *irtt) trip(raw json.RawMessage, out *rows) error {
	var t irttTrip
	if err := json.Unmarshal(raw, &t); err != nil {
		return err
	}
	s := i.series(out)
	wall, err1 := t.Stamps.Client.Send.Wall.nanos(1)
	mono, err2 := t.Stamps.Client.Send.Monotonic.nanos(1)
	elapsed, err3 := time.Duration(0), error(nil)
	lost := string(t.Lost) != "false"
	if !lost {
		elapsed, err3 = t.Delay.RTT.span(1)
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return fmt.Errorf("packet %d: %s", t.Seq, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if !s.begun {
		s.Header.SetEpoch(time.Unix(0, int64(wall)))
	}
	row := out.sample(s)
	row.Due = s.since(mono)
	row.Sent = row.Due
	row.Extra = i.extra.begin().word(string(t.Lost)).word(orNone(t.Delay.Send)).word(orNone(t.Delay.Receive)).String()
	if lost {
		row.Outcome, row.Copies = TimedOut, 0
		return nil
	}
	row.Elapsed = elapsed
	return nil
}

// orNone is a cell of a whole number, or none.
func orNone(d decimalOf) string {
	if v, err := d.nanos(1); err == nil {
		return fmt.Sprint(int64(v))
	}
	return "-"
}
