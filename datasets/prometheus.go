package datasets

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Classic histograms in Prometheus' text form: counts up to each limit since the process
// began. One series a histogram with its labels; those whose name does not say that they
// are of seconds or milliseconds are left out.
func bindPrometheus(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isPrometheus, byLine(func() dialect { return &prometheus{} }))(fs)
}

type prometheus struct {
	order []string
	named map[string]*promHistogram
}

type promHistogram struct {
	buckets []promBucket
	broken  bool // a line of it could not be read: what lies between two limits is not known
}

type promBucket struct {
	limit time.Duration
	open  bool // +Inf
	count int64
}

// mostHistograms bounds what is kept until the end.
const mostHistograms = 1 << 14

func isPrometheus(head []byte) bool {
	return (bytes.HasPrefix(head, []byte("# HELP ")) || bytes.HasPrefix(head, []byte("# TYPE "))) && bytes.Contains(head, []byte("\n# TYPE "))
}

func (p *prometheus) line(text []byte, out *rows) error {
	name, rest, found := bytes.Cut(text, []byte("_bucket{"))
	if !found || text[0] == '#' {
		return nil
	}
	labels, value, found := bytes.Cut(rest, []byte("} "))
	if !found {
		return fmt.Errorf("%s: want labels and a value", clip(text))
	}
	limit, others, ok := cutLimit(string(labels))
	unit := promUnit(string(name))
	switch {
	case !ok:
		return fmt.Errorf("%s: want a label le", clip(text))
	case unit == 0:
		out.say("histograms whose name has neither seconds nor milliseconds in it are left out")
		return nil
	}
	h, err := p.of(string(name) + "{" + others + "}")
	if err != nil {
		return err
	}
	b, err := readBucket(limit, firstWord(value), unit)
	h.broken = h.broken || err != nil
	h.buckets = append(h.buckets, b)
	return err
}

func readBucket(limit string, value []byte, unit time.Duration) (b promBucket, err error) {
	count, err := strconv.ParseFloat(string(value), 64)
	if err != nil || count < 0 || count > 1<<53 || count != math.Trunc(count) {
		return b, fmt.Errorf("%s: want a count", clip(value))
	}
	b = promBucket{open: limit == "+Inf", count: int64(count)}
	if !b.open {
		if b.limit, err = parseNanos([]byte(limit), unit); err != nil || b.limit < 0 {
			return b, fmt.Errorf("le %q: want a limit from 0 on", limit)
		}
	}
	return b, nil
}

// of returns a histogram by its name and labels.
func (p *prometheus) of(series string) (*promHistogram, error) {
	if h := p.named[series]; h != nil {
		return h, nil
	}
	if len(p.order) == mostHistograms {
		return nil, fmt.Errorf("more than %d histograms", mostHistograms)
	}
	if p.named == nil {
		p.named = map[string]*promHistogram{}
	}
	h := &promHistogram{}
	p.named[series] = h
	p.order = append(p.order, series)
	return h, nil
}

// cutLimit takes le out of labels.
func cutLimit(labels string) (limit, others string, ok bool) {
	before, after, ok := strings.Cut(","+labels, `,le="`)
	if !ok {
		return "", "", false
	}
	limit, rest, ok := strings.Cut(after, `"`)
	return limit, strings.Trim(before+rest, ","), ok
}

func promUnit(name string) time.Duration {
	switch {
	case strings.Contains(name, "milliseconds") || strings.HasSuffix(name, "_ms"):
		return time.Millisecond
	case strings.Contains(name, "seconds"):
		return time.Second
	}
	return 0
}

func (p *prometheus) end(out *rows) error {
	var wrong error
	for _, name := range p.order {
		h := p.named[name]
		if h.broken {
			continue
		}
		slices.SortStableFunc(h.buckets, func(a, b promBucket) int {
			if a.open != b.open {
				if a.open {
					return 1
				}
				return -1
			}
			return cmp.Compare(a.limit, b.limit)
		})
		wrong = errors.Join(wrong, h.put(name, out))
	}
	if wrong != nil {
		return errors.New(strings.ReplaceAll(wrong.Error(), "\n", "; "))
	}
	return nil
}

// put turns counts up to a limit into counts between two.
func (h *promHistogram) put(name string, out *rows) error {
	for i := 1; i < len(h.buckets); i++ {
		if h.buckets[i].count < h.buckets[i-1].count {
			return fmt.Errorf("%s: counts up to a greater limit are smaller", name)
		}
	}
	s, _ := out.of([]byte(name), Histograms, "Prometheus histogram")
	below, low := int64(0), time.Duration(0)
	for _, bucket := range h.buckets {
		if n := bucket.count - below; n > 0 {
			b := out.bin(s)
			b.Low, b.Count = low, n
			if !bucket.open {
				b.High = Some(bucket.limit)
			}
		}
		below, low = bucket.count, bucket.limit
	}
	return nil
}
