package datasets

import (
	"encoding/json"
	"flag"
	"fmt"
	"time"
)

// iperf3 -J: what TCP itself thinks its round trip to be at the end of each interval, in
// microseconds (from 3.1 on), which is a smoothed value and no sample; of UDP the jitter.
func bindIperf3(fs *flag.FlagSet) func() (Format, error) {
	is := func(head []byte) bool { return isJSON(head, "start", "connected", "version") && isJSON(head, "cookie") }
	return bindJSON(is, func() jsonReader { return &iperf3{} })(fs)
}

type iperf3 struct {
	began  time.Duration
	target string
	any    bool
}

func (i *iperf3) wants(path []string) func(json.RawMessage, *rows) error {
	switch {
	case at(path, "start"):
		return i.start
	case at(path, "intervals", "[]"):
		return i.interval
	case at(path, "end", "sum"):
		return i.sum
	case at(path, "error"):
		return func(raw json.RawMessage, out *rows) error {
			out.say("iperf3 ended with an error: %s", clip(raw))
			return nil
		}
	}
	return nil
}

func (i *iperf3) end(out *rows) error {
	if !i.any {
		out.say("no interval has a round trip or a jitter: iperf3 before 3.1 tells none of TCP's")
	}
	return nil
}

func (i *iperf3) start(raw json.RawMessage, _ *rows) error {
	var s struct {
		Timestamp struct {
			Seconds decimalOf `json:"timesecs"`
		} `json:"timestamp"`
		To struct {
			Host string `json:"host"`
		} `json:"connecting_to"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	began, err := s.Timestamp.Seconds.span(time.Second)
	i.began, i.target = began, s.To.Host
	return err
}

func (i *iperf3) series(name string, out *rows) *Series {
	s, first := out.of([]byte(name), SeriesKind, "iperf3")
	if first {
		s.Header.Set(KeyTarget, i.target)
		s.Header.Set("series", "delay")
		s.Header.Set("delay", "round trip as TCP smooths it, at the end of an interval")
		s.Header.Set("error", "TCP's round-trip variation, or UDP's jitter (RFC 1889)")
	}
	return s
}

func (i *iperf3) interval(raw json.RawMessage, out *rows) error {
	var v struct {
		Streams []struct {
			Socket int       `json:"socket"`
			End    decimalOf `json:"end"`
			RTT    decimalOf `json:"rtt"`
			Var    decimalOf `json:"rttvar"`
		} `json:"streams"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	for _, st := range v.Streams {
		if st.RTT == "" {
			continue
		}
		end, err1 := st.End.span(time.Second)
		rtt, err2 := st.RTT.span(time.Microsecond)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("stream %d: end %q, rtt %q: want numbers", st.Socket, st.End, st.RTT)
		}
		i.any = true
		s := i.series(fmt.Sprintf("stream %d", st.Socket), out)
		p := out.point(s)
		p.At, p.Delay, p.Status = s.wall(i.began+end), Some(rtt), "smoothed"
		if v, err := st.Var.span(time.Microsecond); err == nil {
			p.Error = Some(v)
		}
	}
	return nil
}

func (i *iperf3) sum(raw json.RawMessage, out *rows) error {
	var v struct {
		End    decimalOf `json:"end"`
		Jitter decimalOf `json:"jitter_ms"`
		Lost   decimalOf `json:"lost_packets"`
		All    decimalOf `json:"packets"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	if v.Jitter == "" {
		return nil
	}
	end, err1 := v.End.span(time.Second)
	jitter, err2 := v.Jitter.span(time.Millisecond)
	if err1 != nil || err2 != nil {
		return fmt.Errorf("end %q, jitter_ms %q: want numbers", v.End, v.Jitter)
	}
	i.any = true
	s := i.series("udp", out)
	s.Header.Set("lost-packets", string(v.Lost)+" of "+string(v.All))
	p := out.point(s)
	p.At, p.Error, p.Status = s.wall(i.began+end), Some(jitter), "jitter"
	return nil
}
