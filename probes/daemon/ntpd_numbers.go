package daemon

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// numbers reads the values of variables, each absent if it is not there or is none.
type numbers struct{ fields []datasets.Field }

func (v numbers) text(name string) string {
	for _, f := range v.fields {
		if f.Key == name {
			return f.Value
		}
	}
	return ""
}

func (v numbers) float(name string) float64 {
	f, err := strconv.ParseFloat(v.text(name), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

func (v numbers) millis(name string) datasets.Optional[time.Duration] {
	return seconds(v.float(name) / 1e3)
}

func (v numbers) ppm(name string) datasets.Optional[datasets.PPB] { return ppm(v.float(name)) }

func (v numbers) integer(name string, most int) datasets.Optional[int] {
	n, err := strconv.Atoi(v.text(name))
	if err != nil || n < 0 || n > most {
		return datasets.Optional[int]{}
	}
	return datasets.Some(n)
}

// leap is written in binary: 00 to 11; newer versions write 0 to 3.
func (v numbers) leap() datasets.Optional[int] {
	n, err := strconv.ParseUint(v.text("leap"), 2, 2)
	if err != nil {
		return v.integer("leap", 3)
	}
	return datasets.Some(int(n))
}

// between returns the time from one of ntpd's own stamps to another.
func (v numbers) between(from, to string) datasets.Optional[time.Duration] {
	a, err1 := parseNTPTime(v.text(from))
	b, err2 := parseNTPTime(v.text(to))
	if err1 != nil || err2 != nil || a == 0 {
		return datasets.Optional[time.Duration]{}
	}
	d := int64(b - a) // modulo the era
	if d < 0 {
		return datasets.Optional[time.Duration]{}
	}
	return datasets.Some(time.Duration(d>>32)*time.Second + time.Duration(uint64(uint32(d))*1e9>>32))
}

// parseNTPTime reads 32.32 bits, written in hexadecimal with a point in between.
func parseNTPTime(text string) (uint64, error) {
	whole, fraction, ok := strings.Cut(strings.TrimPrefix(text, "0x"), ".")
	if !ok || len(fraction) != 8 {
		return 0, errors.New("want seconds.fraction in hexadecimal")
	}
	return strconv.ParseUint(whole+fraction, 16, 64)
}

// addTo writes down all but the eight last samples of a peer, which are no claim: NTPsec
// 1.2.2 sends bytes of its memory with them.
func (v numbers) addTo(c *datasets.Claim) {
	addFacts(c, slices.DeleteFunc(slices.Clone(v.fields), func(f datasets.Field) bool { return strings.HasPrefix(f.Key, "filt") }))
}
