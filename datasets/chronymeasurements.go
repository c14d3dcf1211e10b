package datasets

import (
	"bufio"
	"bytes"
	"fmt"
	"time"
)

// chronyMeasurements reads chronyd's measurements.log, one series a server: what "log
// measurements" and "log rawmeasurements" write (chrony.conf(5)). Its offset is θ as it
// stands. Measurements that failed a test of chronyd's are rows too, and invalid; lost
// ones are not in the log.
type chronyMeasurements struct{}

// The fields of a line up to 1.29 are 16, from 2.0 on there are refid, mode and where the
// stamps were taken behind them.
const (
	measuredFields    = 16
	measuredFieldsNew = 20
)

func isChronyMeasurements(head []byte) bool {
	for line := range firstLines(head) {
		if chronyBanner(line) {
			continue
		}
		_, err := splitMeasurement(line)
		return err == nil
	}
	return false
}

func newChronyMeasurements(name string, r *bufio.Reader) importer {
	return byLine(func() dialect { return chronyMeasurements{} })(name, r)
}

// chronyBanner reports whether a line is of the three that chronyd repeats (logbanner).
func chronyBanner(line []byte) bool {
	line = bytes.TrimLeft(line, " ")
	return len(line) == 0 || bytes.HasPrefix(line, []byte("====")) || bytes.HasPrefix(line, []byte("Date (UTC)"))
}

func (chronyMeasurements) line(text []byte, out *rows) error {
	if chronyBanner(text) {
		return nil
	}
	f, err := splitMeasurement(text)
	if err != nil {
		return err
	}
	wall, err := chronyTime(f[0], f[1])
	if err != nil {
		return err
	}
	s, first := out.of(f[2], SeriesKind, "chrony measurements.log")
	if first {
		s.Header.Set("series", "offset")
		s.Header.Set("sign", "θ: positive is a local clock that is slow, as chronyd writes it")
		s.Header.Set("delay", "round trip, the server's own time left out")
		s.Header.Set("error", "peer dispersion: stamps and drift")
		s.Header.Extra = []string{"leap", "stratum", "root_delay_ns", "root_dispersion_ns"}
	}
	p := out.point(s)
	p.At = s.wall(wall)
	if err := f.fill(p); err != nil {
		return err
	}
	if failed(f[5]) || failed(f[6]) || failed(f[7]) {
		p.Outcome = Invalid
		out.count("1 measurement failed a test of chronyd and is invalid", "%d measurements failed a test of chronyd and are invalid")
	}
	return nil
}

func (chronyMeasurements) end(*rows) error { return nil }

// measurement is the fields of a line.
type measurement [measuredFieldsNew][]byte

func splitMeasurement(line []byte) (f measurement, err error) {
	n := fields(line, f[:])
	if n != measuredFields && n != measuredFieldsNew {
		return f, fmt.Errorf("%d fields: want %d or %d", n, measuredFields, measuredFieldsNew)
	}
	if !isTests(f[5], 3, 4) || !isTests(f[6], 3, 3) || !isTests(f[7], 4, 4) {
		return f, fmt.Errorf("%s: want the results of chronyd's tests, such as 111 111 1111", clip(bytes.Join(f[5:8], []byte{' '})))
	}
	return f, nil
}

func isTests(text []byte, least, most int) bool {
	return len(text) >= least && len(text) <= most && len(bytes.Trim(text, "01")) == 0
}

func failed(tests []byte) bool { return bytes.IndexByte(tests, '0') >= 0 }

func (f *measurement) fill(p *Point) error {
	var values [5]time.Duration // offset, delay, dispersion, root delay, root dispersion
	for i := range values {
		v, err := parseNanos(f[11+i], time.Second)
		if err != nil {
			return err
		}
		values[i] = v
	}
	p.Offset, p.Delay, p.Error = Some(values[0]), Some(values[1]), Some(values[2])
	p.Extra = fmt.Sprintf("%s\t%s\t%d\t%d", f[3], f[4], values[3], values[4])
	return nil
}

// chronyTime reads the date and time that all of chronyd's logs begin with. They are UTC.
func chronyTime(date, clock []byte) (time.Duration, error) {
	day, ok := parseDate(date)
	at, timed := parseClock(clock)
	if !ok || !timed {
		return 0, fmt.Errorf("%s: want a date and a time", clip(bytes.Join([][]byte{date, clock}, []byte{' '})))
	}
	return day + at, nil
}
