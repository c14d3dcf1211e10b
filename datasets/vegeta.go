package datasets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"time"
)

// vegeta's results, as "vegeta encode" writes them: CSV without a header, or an object a
// line. One series an attack and URL. A code of 0 is a request without an answer.
func bindVegeta(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isVegeta, func(name string, r *bufio.Reader) importer {
		return byLine(func() dialect { return &vegeta{} })(name, r)
	})(fs)
}

type vegeta struct{ f columns }

// vegetaResult is one request (vegeta's lib/results.go).
type vegetaResult struct {
	Attack    string    `json:"attack"`
	Seq       int64     `json:"seq"`
	Code      int       `json:"code"`
	Timestamp time.Time `json:"timestamp"`
	Latency   int64     `json:"latency"`
	BytesOut  int       `json:"bytes_out"`
	Error     string    `json:"error"`
	Method    string    `json:"method"`
	URL       string    `json:"url"`
}

func isVegeta(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	if bytes.HasPrefix(line, []byte("{")) {
		return bytes.Contains(line, []byte(`"attack"`)) && bytes.Contains(line, []byte(`"latency"`)) && bytes.Contains(line, []byte(`"bytes_out"`))
	}
	var f columns
	f.splitCommas(line)
	return f.n >= 12 && len(f.cell[0]) == 19 && allDigits(f.cell[0]) && len(f.cell[1]) <= 3 && allDigits(f.cell[1]) && allDigits(f.cell[2]) && allDigits(f.cell[3]) && allDigits(f.cell[4])
}

func (v *vegeta) line(text []byte, out *rows) error {
	if len(text) == 0 {
		return nil
	}
	if text[0] == '{' {
		var r vegetaResult
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("%s: want an object of vegeta encode: %w", clip(text), err)
		}
		if y := r.Timestamp.Year(); y < 1970 || y > 2200 {
			return fmt.Errorf("timestamp %q: want one since 1970", r.Timestamp.Format(time.RFC3339))
		}
		return v.put(&r, out)
	}
	r, err := v.csv(text)
	if err != nil {
		return err
	}
	return v.put(&r, out)
}

func (*vegeta) end(*rows) error { return nil }

// csv reads: time, code, latency, bytes out, bytes in, error, body, attack, sequence
// number, method, URL, headers. The error may be quoted; what follows it is read from the
// right.
func (v *vegeta) csv(text []byte) (r vegetaResult, err error) {
	f := &v.f
	f.splitCommas(text)
	if f.n < 12 || f.n > len(f.cell) {
		return r, fmt.Errorf("%d columns: want 12", f.n)
	}
	last := f.n - 1
	r.Timestamp = time.Unix(0, int64(f.nanos(0, 1)))
	r.Code, r.Latency, r.BytesOut = f.whole(1), int64(f.nanos(2, 1)), f.whole(3)
	r.Error = string(bytes.Trim(bytes.Join(f.cell[5:last-5], []byte{','}), `"`))
	r.Attack, r.Seq = string(f.cell[last-4]), int64(f.whole(last-3))
	r.Method, r.URL = string(f.cell[last-2]), string(f.cell[last-1])
	return r, f.err
}

func (v *vegeta) put(r *vegetaResult, out *rows) error {
	if r.Latency < 0 || r.Code < 0 {
		return errors.New("a latency or code below zero")
	}
	name := r.URL
	if r.Attack != "" {
		name = r.Attack + " " + r.URL
	}
	s, first := out.of([]byte(name), RTT, "vegeta")
	if first {
		s.Header.Set(KeyTarget, r.URL)
		s.Header.Set("method", r.Method)
	}
	row := out.sample(s)
	row.Due = s.wall(time.Duration(r.Timestamp.UnixNano()))
	row.Sent, row.Size = row.Due, r.BytesOut
	if r.Code == 0 {
		row.Outcome, row.Copies = TimedOut, 0
		if bytes.Contains([]byte(r.Error), []byte("refused")) {
			row.Outcome = Refused
		} else {
			row.Elapsed = time.Duration(r.Latency) // how long it was waited for
		}
		return nil
	}
	row.Elapsed, row.Status = time.Duration(r.Latency), Some(r.Code)
	return nil
}
