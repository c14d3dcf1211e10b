package datasets

import (
	"encoding/json"
	"flag"
	"strings"
	"time"
)

// ghz's JSON report of gRPC calls: the details of each. Its histogram is of the same calls.
func bindGhz(fs *flag.FlagSet) func() (Format, error) {
	return bindJSON(func(head []byte) bool { return isJSON(head, "endReason", "statusCodeDistribution") }, func() jsonReader { return &ghz{} })(fs)
}

type ghz struct {
	promised, seen int64
}

func (g *ghz) wants(path []string) func(json.RawMessage, *rows) error {
	switch {
	case at(path, "options"):
		return g.options
	case at(path, "count"):
		return func(raw json.RawMessage, _ *rows) error { return json.Unmarshal(raw, &g.promised) }
	case at(path, "details", "[]"):
		return g.detail
	}
	return nil
}

func (g *ghz) end(out *rows) error {
	if g.promised != g.seen {
		out.say("the report counts %d calls and has the details of %d: nothing is known of the others", g.promised, g.seen)
	}
	return nil
}

func (g *ghz) options(raw json.RawMessage, out *rows) error {
	var o struct {
		Host    string `json:"host"`
		Call    string `json:"call"`
		Timeout int64  `json:"timeout"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	s, _ := out.of(nil, RTT, "ghz")
	s.Header.Set(KeyTarget, o.Host+" "+o.Call)
	if o.Timeout > 0 {
		s.Header.SetDuration(KeyListen, time.Duration(o.Timeout))
	}
	return nil
}

// grpcCodes are the names of the status codes, in their order (google/rpc/code.proto).
func grpcCodes() []string {
	return []string{
		"OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists", "PermissionDenied", "ResourceExhausted",
		"FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal", "Unavailable", "DataLoss", "Unauthenticated",
	}
}

func (g *ghz) detail(raw json.RawMessage, out *rows) error {
	var d struct {
		At      time.Time `json:"timestamp"`
		Latency decimalOf `json:"latency"`
		Status  string    `json:"status"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	wall, err := since1970(d.At)
	if err != nil {
		return err
	}
	elapsed, err := d.Latency.span(1)
	if err != nil {
		return err
	}
	g.seen++
	s, _ := out.of(nil, RTT, "ghz")
	row := out.sample(s)
	row.Due = s.wall(wall)
	row.Sent, row.Elapsed = row.Due, elapsed
	for code, name := range grpcCodes() {
		if strings.EqualFold(name, d.Status) {
			row.Status = Some(code)
		}
	}
	if d.Status == "DeadlineExceeded" { // the client gave up, after as long
		row.Outcome, row.Copies = TimedOut, 0
	}
	return nil
}
