package netlab

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// clients are the other clients as they print an offset of so many microseconds (from
// a run of each: ntpsec 1.2.2, chrony 4.3, facebook/time v0.0.0-20260822211804).
func clients() map[string]struct {
	text func(microseconds int64) string
	read func(string) (time.Duration, error)
} {
	decimal := func(us int64) string {
		sign := ""
		if us < 0 {
			sign, us = "-", -us
		}
		return fmt.Sprintf("%s%d.%06d", sign, us/1e6, us%1e6)
	}
	type client = struct {
		text func(int64) string
		read func(string) (time.Duration, error)
	}
	return map[string]client{
		"ntpdig": {func(us int64) string {
			return `{"time":"2026-12-01T02:31:07.52315+0000","offset":` + decimal(us) + `,"precision":0.000168,"host":"10.77.0.1","ip":"10.77.0.1","stratum":1,"leap":"no-leap","adjusted":false}` + "\n"
		}, printedByNTPDig},
		"chronyd -Q": {func(us int64) string {
			return "2026-12-01T02:31:07Z chronyd version 4.3 starting (+CMDMON +NTP +REFCLOCK)\n2026-12-01T02:31:07Z Disabled control of system clock\n" +
				"2026-12-01T02:31:11Z System clock wrong by " + decimal(us) + " seconds (ignored)\n2026-12-01T02:31:11Z chronyd exiting\n"
		}, printedByChronydQ},
		"ntpcheck": {func(us int64) string {
			return "\nServer: 10.77.0.1:123, Stratum: 1, Reference ID: OLEG, Requests 5\nLast Request:Offset: 9.876543s (9876543us) | Delay: 0.000021s (21us)\n" +
				"Correct Time is 2026-12-01 02:31:12.080146 +0000 UTC\n\nAverage (5 requests):\nOffset: " + decimal(us) + "s (1us) | Delay: 0.000025s (25us)\n"
		}, printedByNTPCheck},
	}
}

func TestPrintedOffsets(t *testing.T) {
	for name, c := range clients() {
		for _, us := range []int64{0, 1, -1, 1234, -250007, 5_000_000, -86_400_000_001} {
			if got, err := c.read(c.text(us)); err != nil || got != time.Duration(us)*time.Microsecond {
				t.Errorf("%s: %d µs read as %v, %v", name, us, got, err)
			}
		}
		for _, text := range []string{"", "ntpdig: no eligible servers\n", "{}", "System clock wrong by", c.text(1)[:20]} {
			if got, err := c.read(text); err == nil {
				t.Errorf("%s: %q read as %v", name, text, got)
			}
		}
	}
	unanswered := `time="2026-12-01T02:31:12Z" level=error msg="Error reading response to 0 after 50 tries"` + "\nAverage (1 requests):\nOffset: 0.000000s (0us) | Delay: 0.000000s (0us)\n"
	if got, err := printedByNTPCheck(unanswered); err == nil {
		t.Errorf("no answer read as %v", got)
	}
}

// Whatever stands around it, an offset is read to the digit; and what is read stands in
// the text as a number.
func FuzzPrintedOffsets(f *testing.F) {
	for _, c := range clients() {
		f.Add("", int64(1234), c.text(-5))
		f.Add("Average (1 requests):\n", int64(-1), c.text(1<<40))
	}
	number := regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)
	f.Fuzz(func(t *testing.T, before string, us int64, text string) {
		us %= 1e12
		for name, c := range clients() {
			if _, err := c.read(before); err != nil && !strings.Contains(before, "level=error") {
				whole := before + "\n" + c.text(us)
				if got, err := c.read(whole); err != nil || got != time.Duration(us)*time.Microsecond {
					t.Errorf("%s: %d µs read as %v, %v in %q", name, us, got, err, whole)
				}
			}
			got, err := c.read(text)
			if err == nil && !slices.ContainsFunc(number.FindAllString(text, -1), func(word string) bool {
				v, err := strconv.ParseFloat(word, 64)
				return err == nil && math.Abs(v-got.Seconds()) <= 1e-9+1e-12*math.Abs(v)
			}) {
				t.Errorf("%s: %v is nowhere in %q", name, got, text)
			}
		}
	})
}
