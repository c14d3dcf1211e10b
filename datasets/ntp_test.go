package datasets_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// theta returns the first offset of a sample's series, and its frequency.
func firstPoint(t *testing.T, all imported, series string) *datasets.Point {
	t.Helper()
	if len(all.rows[series]) == 0 {
		t.Fatalf("no series %q: %v", series, all.series)
	}
	return all.rows[series][0].(*datasets.Point)
}

func optional[T any](t *testing.T, o datasets.Optional[T]) T {
	t.Helper()
	v, ok := o.Value()
	if !ok {
		t.Fatal("absent")
	}
	return v
}

// The signs of every log, as the tools' manuals have them: chrony.conf(5) for its logs,
// NTP's monitoring options, the pool's monitor. Positive is a local clock that is slow.
func TestOffsetsOfLogs(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		format, sample, series string
		want                   time.Duration
	}{
		{"chrony-measurements", "old.log", "2001:db8::5", 3 * time.Millisecond},
		{"chrony-statistics", "new.log", "192.0.2.1", 150 * us},   // the log has −150 µs: fast is positive there
		{"chrony-selection", "some.log", "192.0.2.1", 10 * us},    // −(−150+130)/2
		{"chrony-refclocks", "some.log", "PPS", 125},              // the cooked one
		{"chrony-refclocks", "some.log", "PPS filtered", -175},    //
		{"ntpd-loopstats", "some.log", "", 1853},                  //
		{"ntpd-peerstats", "some.log", "2001:db8::1", -401289},    //
		{"ntppool", "scores.log", "mon-a", 1457096},               // the oldest comes first
		{"ntpd-peerstats", "xntp3.log", "192.0.2.1", 2516},        // without jitter
		{"chrony-statistics", "old.log", "2001:db8::5", 150 * us}, //
		{"chrony-measurements", "new.log", "192.0.2.9", -30 * us}, //
		{"chrony-selection", "some.log", "PPS", -1 * us},          // −(−1+3.001)/2, the half nanosecond cut off
		{"chrony-refclocks", "some.log", "PPS", 125 * time.Nanosecond},
	} {
		p := firstPoint(t, importSample(t, c.format, c.sample), c.series)
		if got := optional(t, p.Offset); got != c.want {
			t.Errorf("%s, %q: θ = %v, want %v", c.format, c.series, got, c.want)
		}
	}
	// Both mean that the clock left alone loses: chronyd has measured it as slow, ntpd adds to it.
	if f := optional(t, firstPoint(t, importSample(t, "chrony-statistics", "new.log"), "192.0.2.1").Frequency); f != 2.5e-8 {
		t.Error(f)
	}
	if f := optional(t, firstPoint(t, importSample(t, "ntpd-loopstats", "some.log"), "").Frequency); f != -33.344e-6 {
		t.Error(f)
	}
}

func claims(all imported) (claims []*datasets.Claim) {
	for _, r := range all.rows[""] {
		claims = append(claims, r.(*datasets.Claim))
	}
	return claims
}

// What a daemon says of itself and of its sources.
func TestClaimsOfLogs(t *testing.T) {
	tracking := claims(importSample(t, "chrony-tracking", "new.log"))
	if tracking[0].Status != datasets.Unsynchronised || tracking[1].Status != datasets.Synchronised {
		t.Error(tracking[0], tracking[1])
	}
	if off, bound := optional(t, tracking[1].Offset), optional(t, tracking[1].Bound); off != -1500 || bound != 25*time.Microsecond || optional(t, tracking[1].Frequency) != -11064 {
		t.Error(off, bound, tracking[1].Frequency)
	}
	// 27.941 µs + 125.521 µs + half of 4070.942 µs (chronyc(1), "tracking").
	if c := claims(importSample(t, "chronyc", "tracking.log"))[0]; optional(t, c.Bound) != 27941+125521+4070942/2 || optional(t, c.Offset) != 27941 {
		t.Error(c)
	}
	sources := claims(importSample(t, "chronyc", "sources.log"))
	if s := sources[0]; s.Status != datasets.Selected || optional(t, s.Offset) != -328892 || optional(t, s.Age) != 21*time.Second {
		t.Error(s)
	}
	if s := sources[1]; s.Status != datasets.Falseticker {
		t.Error(s)
	}
	if _, heard := sources[2].Age.Value(); heard || sources[2].Status != datasets.Unreachable {
		t.Error(sources[2])
	}
	peers := claims(importSample(t, "ntpq", "some.log"))
	if p := peers[1]; p.Source != "ntpd ntp.example (t" || optional(t, p.Offset) != 1589483*time.Millisecond || optional(t, p.Age) != 2*time.Minute {
		t.Error(p)
	}
	if p := peers[3]; p.Status != datasets.Unreachable || p.Reference != "POOL" {
		t.Error(p)
	}
	if c := claims(importSample(t, "timesyncd", "status.txt"))[0]; optional(t, c.Offset) != -5250*time.Microsecond || optional(t, c.Frequency) != 27071 {
		t.Error(c)
	}
}

// RFC 5905, 2208988800 s from 1900 to 1970; θ = ((T2−T1)+(T3−T4))/2.
func TestRawstats(t *testing.T) {
	all := importSample(t, "ntpd-rawstats", "some.log")
	e := all.rows["192.0.2.3"][0].(*datasets.Exchange)
	theta, _ := e.Offset()
	delay, _ := e.Delay()
	if theta != 50*time.Microsecond || delay != 2900*time.Microsecond || e.Reference != "0x7f7f0101" {
		t.Errorf("θ %v, δ %v, %+v", theta, delay, e)
	}
	if e := all.rows["192.0.2.3"][1].(*datasets.Exchange); e.Outcome != datasets.Invalid {
		t.Error("an answer before its request:", e)
	}
	e = all.rows["192.0.2.4"][0].(*datasets.Exchange)
	if theta, _ := e.Offset(); theta != 50001 || e.Stratum != (datasets.Optional[int]{}) {
		t.Errorf("θ %v of a line without what follows the stamps", theta)
	}
	if epoch, ok := all.headers["192.0.2.3"].Epoch(); !ok || !epoch.Equal(time.Date(2025, 11, 21, 20, 41, 59, 247_000_000, time.UTC)) {
		t.Error(epoch) // MJD 61000 is 2025-11-21; the line is of the arrival, 3 ms after the request
	}
}

// corpusFile imports a file of the corpus by the format that recognises it.
func corpusFile(t *testing.T, path string) imported {
	t.Helper()
	all, err := importAll(path, []byte(corpus(t, path)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func count(all imported) (n int) {
	for _, rows := range all.rows {
		n += len(rows)
	}
	return n
}

// The answers are those of the corpus's MANIFEST.tsv.
func TestCorpusNTP(t *testing.T) {
	corpus(t, "MANIFEST.tsv")
	for path, want := range map[string]int{
		"chrony-logs/lab-asym/measurements.log":               478,
		"chrony-logs/leapsecond-2016/measurements.log":        388,
		"chrony-logs/refclock-2021/statistics-part1.log":      9000,
		"chrony-logs/refclock-2021/tracking.log":              13062,
		"chronyc/sources-c-ntpmon.csv":                        8,
		"chronyc/lab/sources.csv":                             3,
		"chronyc/lab/tracking.csv":                            1,
		"chronyc/lab/ntpdata.csv":                             3,
		"ntpd-stats/pfsense/loopstats-am":                     5400,
		"ntpd-stats/pfsense/peerstats-am":                     5850,
		"ntpd-stats/lab-ntpsec/rawstats":                      131,
		"ntppool-csv/scores-a.csv":                            1500 - 144, // without the pool's own median
		"ntpq/centos-7.7_ntpq-pn.out":                         4,
		"timedatectl/generic_timedatectl-timesync-status.out": 1,
	} {
		t.Run(path, func(t *testing.T) {
			all := corpusFile(t, path)
			if n := count(all); n != want {
				t.Errorf("%d rows, want %d; %v", n, want, all.warnings)
			}
			for _, w := range all.warnings {
				t.Log(w)
			}
		})
	}
	t.Run("ntppool-csv/scores-a.csv/offsets", func(t *testing.T) {
		least, most, lost := time.Duration(0), time.Duration(0), 0
		for _, rows := range corpusFile(t, "ntppool-csv/scores-a.csv").rows {
			for _, r := range rows {
				p := r.(*datasets.Point)
				if off, ok := p.Offset.Value(); ok {
					least, most = min(least, off), max(most, off)
				} else {
					lost++
				}
			}
		}
		if least != -120996078 || most != 36781983 || lost != 3 {
			t.Error(least, most, lost)
		}
	})
	t.Run("ntpd-stats/pfsense/loopstats-am/offsets", func(t *testing.T) {
		var sum, least, most time.Duration
		rows := corpusFile(t, "ntpd-stats/pfsense/loopstats-am").rows[""]
		for _, r := range rows {
			off := optional(t, r.(*datasets.Point).Offset)
			sum, least, most = sum+off, min(least, off), max(most, off)
		}
		if mean := float64(sum) / float64(len(rows)); least != -19491 || most != 34245 || mean < 242.42 || mean > 242.44 {
			t.Error(least, most, mean)
		}
	})
	t.Run("ntpd-stats/pfsense/peerstats-am/servers", func(t *testing.T) {
		got := map[string]int{}
		for name, rows := range corpusFile(t, "ntpd-stats/pfsense/peerstats-am").rows {
			got[name] = len(rows)
		}
		if diff := cmp.Diff(map[string]int{"127.127.20.0": 5400, "132.163.97.1": 153, "132.163.97.4": 149, "132.163.97.2": 148}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("chrony-logs/leapsecond-2016/measurements.log/first", func(t *testing.T) {
		all := corpusFile(t, "chrony-logs/leapsecond-2016/measurements.log")
		if p := firstPoint(t, all, all.series[0]); optional(t, p.Offset) != 386*time.Millisecond {
			t.Error(p)
		}
	})
	t.Run("chronyc/sources-c-ntpmon.csv/largest", func(t *testing.T) {
		var most time.Duration
		for _, c := range claims(corpusFile(t, "chronyc/sources-c-ntpmon.csv")) {
			most = max(most, optional(t, c.Offset).Abs())
			if c.Status == datasets.Selected && c.Source != "chronyd 130.95.128.58" {
				t.Error(c)
			}
		}
		if most != 21903355 {
			t.Error(most)
		}
	})
}

func FuzzChronyStatistics(f *testing.F) { fuzzFormat(f, "chrony-statistics") }
func FuzzChronyTracking(f *testing.F)   { fuzzFormat(f, "chrony-tracking") }
func FuzzChronySelection(f *testing.F)  { fuzzFormat(f, "chrony-selection") }
func FuzzChronyRefclocks(f *testing.F)  { fuzzFormat(f, "chrony-refclocks") }
func FuzzChronyc(f *testing.F)          { fuzzFormat(f, "chronyc") }
func FuzzLoopstats(f *testing.F)        { fuzzFormat(f, "ntpd-loopstats") }
func FuzzPeerstats(f *testing.F)        { fuzzFormat(f, "ntpd-peerstats") }
func FuzzRawstats(f *testing.F)         { fuzzFormat(f, "ntpd-rawstats") }
func FuzzNTPQ(f *testing.F)             { fuzzFormat(f, "ntpq") }
func FuzzTimesyncd(f *testing.F)        { fuzzFormat(f, "timesyncd") }
func FuzzNTPPool(f *testing.F)          { fuzzFormat(f, "ntppool") }
