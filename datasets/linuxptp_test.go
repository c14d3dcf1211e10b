package datasets_test

import (
	"encoding/csv"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// A positive offset of ptp4l, phc2sys and ts2phc is a clock that is ahead of its source
// (linuxptp's clock.c: offset = t2 − t1 − delay), so that θ is its negative.
func TestLinuxptp(t *testing.T) {
	all := importSample(t, "linuxptp", "plain.log")
	want := []string{"ptp4l master", "phc2sys ptp4l.0.config CLOCK_REALTIME phc", "ts2phc ts2phc.0.config /dev/ptp4", "ptp4l rms"}
	if diff := cmp.Diff(want, all.series); diff != "" {
		t.Fatal(diff)
	}
	p := all.rows["ptp4l master"][1].(*datasets.Point)
	if p.At != datasets.Instant(time.Second) || optional(t, p.Offset) != 7 || optional(t, p.Frequency) != 18831e-9 || optional(t, p.Delay) != -453 || p.Status != "s2" {
		t.Errorf("%+v", p)
	}
	rms := firstPoint(t, all, "ptp4l rms")
	if _, has := rms.Offset.Value(); has || optional(t, rms.Error) != 10 || rms.Extra != "25" {
		t.Errorf("%+v", rms)
	}
	// The bracket is better than the syslog's second, which the doubled prefix has too.
	all = importSample(t, "linuxptp", "syslog.log")
	if p := all.rows["ptp4l master"][1].(*datasets.Point); p.At != datasets.Instant(time.Second) {
		t.Error(p.At)
	}
	all = importSample(t, "journal-json", "some.log")
	if p := all.rows["ptp4l master"][1].(*datasets.Point); p.At != datasets.Instant(time.Second+2*time.Microsecond) || optional(t, p.Offset) != -21 {
		t.Errorf("%+v", p)
	}
	if c := claims(importSample(t, "pmc", "get.txt")); optional(t, c[0].Offset) != -870 || optional(t, c[1].Offset) != 870 || c[1].Reference != "8ee8ce.fffe.c0bfa8" {
		t.Error(c[0], c[1])
	}
}

func TestCorpusLinuxptp(t *testing.T) {
	corpus(t, "MANIFEST.tsv")
	t.Run("ptp4l/plain-5min_1.txt", func(t *testing.T) { // the author's own reading of the same run
		rows := corpusFile(t, "ptp4l/plain-5min_1.txt").rows["ptp4l master"]
		want, err := csv.NewReader(strings.NewReader(corpus(t, "ptp4l/plain-5min_1.expected.csv"))).ReadAll()
		if err != nil || len(rows) != 273 || len(want)-1 != len(rows) {
			t.Fatal(err, len(rows), len(want))
		}
		for i, r := range rows {
			p := r.(*datasets.Point)
			got := []string{
				strconv.FormatInt(-int64(optional(t, p.Offset)), 10), strconv.FormatFloat(math.Round(-optional(t, p.Frequency)*1e9), 'f', 0, 64),
				strconv.FormatInt(int64(optional(t, p.Delay)), 10),
			}
			if diff := cmp.Diff(want[i+1][3:], got); diff != "" {
				t.Fatal(i, diff)
			}
		}
	})
	for path, want := range map[string]int{
		"ptp4l/syslog-bad-switch.txt":       44,
		"phc2sys/syslog-doubled-prefix.txt": 13,
		"sptp/sptp-offset-lines.txt":        36,
		"pmc/lab-get-all.txt":               2,
		// Lines that grep finds with an offset and a state behind it, or with rms and max.
		"ptp4l/journald-5min_2.json":   -1,
		"ptp4l/lab-rms.txt":            -1,
		"ptp4l/journal-states.txt":     -1,
		"phc2sys/journal-3.x.txt":      -1,
		"ts2phc/ts2phc-short.log":      -1,
		"linuxptp-daemon/tbc-log2.txt": -1,
	} {
		t.Run(path, func(t *testing.T) {
			text := corpus(t, path)
			if want < 0 {
				want = len(offsetLine().FindAllString(text, -1))
			}
			all, err := importAll(path, []byte(text), nil)
			if want == 0 && err != nil {
				t.Log(err)
				return
			}
			if n := count(all); n != want || err != nil {
				t.Errorf("%d rows, want %d; %v %v", n, want, all.warnings, err)
			}
			for _, s := range all.series {
				t.Logf("%q: %d rows", s, len(all.rows[s]))
			}
		})
	}
	t.Run("ptp4l/lab-master.txt", func(t *testing.T) {
		_, err := importAll("lab-master.txt", []byte(corpus(t, "ptp4l/lab-master.txt")), nil)
		if err == nil || !strings.Contains(err.Error(), "no line tells an offset") {
			t.Error(err)
		}
	})
	t.Run("pmc/lab-get-all.txt/offset", func(t *testing.T) {
		c := claims(corpusFile(t, "pmc/lab-get-all.txt"))
		if optional(t, c[0].Offset) != -869 {
			t.Error(c[0])
		}
	})
}

func FuzzLinuxptp(f *testing.F)    { fuzzFormat(f, "linuxptp") }
func FuzzJournalJSON(f *testing.F) { fuzzFormat(f, "journal-json") }
func FuzzPMC(f *testing.F)         { fuzzFormat(f, "pmc") }

func offsetLine() *regexp.Regexp {
	return regexp.MustCompile(`(?m) offset +-?[0-9]+ s[0-3] |rms +[0-9]+ max +[0-9]+`)
}
