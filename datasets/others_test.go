package datasets_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

func TestOthers(t *testing.T) {
	e := importSample(t, "fourstamps", "table.txt").rows[""]
	if theta, _ := e[0].(*datasets.Exchange).Offset(); theta != 498500049 { // ((t2−t1)+(t3−t4))/2
		t.Error(theta)
	}
	if e[1].(*datasets.Exchange).Outcome != datasets.Invalid {
		t.Error(e[1])
	}
	if p := firstPoint(t, importSample(t, "mbgsvcd", "some.log"), "GNS181PEX"); optional(t, p.Offset) != -238 || p.Status != "*" {
		t.Error(p)
	}
	hops := importSample(t, "traceroute", "some.txt")
	if diff := cmp.Diff([]string{"4.024ms", "3.683ms", "timed-out"}, fates(hops.rows["hop 1 192.0.2.1"])); diff != "" {
		t.Error(diff)
	}
	if len(hops.rows["hop 2"]) != 3 || len(hops.rows["hop 3 192.0.2.10"]) != 1 {
		t.Error(hops.series)
	}
	want := []string{"0s 0s..5ms 3", "0s 10ms..25ms 7", "0s 25ms..∞ 2"}
	if diff := cmp.Diff(want, bins(importSample(t, "prometheus", "some.txt").rows[`x_seconds{path="/a"}`])); diff != "" {
		t.Error(diff)
	}
}

// What we write for Prometheus, we read: each latency lies in its bin.
func TestPrometheusThereAndBack(t *testing.T) {
	h := newHeader(datasets.RTT)
	var all []datasets.Row
	for i := range 100 {
		all = append(all, &datasets.Sample{Seq: int64(i), Attempt: 1, Elapsed: time.Duration(i) * 90 * time.Microsecond})
	}
	back, err := importAll("x.prom", []byte(export(t, "prom", h, all...)), nil)
	if err != nil || len(back.series) != 1 {
		t.Fatal(err, back.series)
	}
	if _, _, _, _, total := quantileOfBins(back.rows[back.series[0]], 0.5); total != 100 {
		t.Error(total, bins(back.rows[back.series[0]]))
	}
}

func TestCorpusOthers(t *testing.T) {
	corpus(t, "MANIFEST.tsv")
	t.Run("mbgsvcd/exp3-AS1 - Kopie.txt", func(t *testing.T) {
		var least, most time.Duration
		n := 0
		for _, rows := range corpusFile(t, "mbgsvcd/exp3-AS1 - Kopie.txt").rows {
			for _, r := range rows {
				var told int64
				p := r.(*datasets.Point)
				for _, c := range p.Extra {
					if c >= '0' && c <= '9' {
						told = told*10 + int64(c-'0')
					}
				}
				if p.Extra[0] == '-' {
					told = -told
				}
				least, most = min(least, time.Duration(told)), max(most, time.Duration(told))
				n++
			}
		}
		if n != 2549 || least != -715 || most != 1192 {
			t.Error(n, least, most)
		}
	})
	t.Run("ntp-timestamps/t1t2t3t4-crlf.csv", func(t *testing.T) {
		all := corpusFile(t, "ntp-timestamps/t1t2t3t4-crlf.csv")
		if n := count(all); n != 1528 { // lines, by formats of the corpus
			t.Error(n, all.warnings)
		}
		// phi of the first line, within the author's float64.
		if theta, _ := all.rows[""][0].(*datasets.Exchange).Offset(); theta < -7713318-210 || theta > -7713318+210 {
			t.Error(theta)
		}
	})
	t.Run("traceroute/centos-7.7_traceroute.out", func(t *testing.T) {
		all := corpusFile(t, "traceroute/centos-7.7_traceroute.out")
		if got := fates(all.rows["hop 1 192.168.1.254"]); !cmp.Equal(got, []string{"4.024ms", "3.683ms", "3.706ms"}) {
			t.Error(got)
		}
	})
}

func FuzzFourStamps(f *testing.F) { fuzzFormat(f, "fourstamps") }
func FuzzMbgsvcd(f *testing.F)    { fuzzFormat(f, "mbgsvcd") }
func FuzzTraceroute(f *testing.F) { fuzzFormat(f, "traceroute") }
func FuzzPrometheus(f *testing.F) { fuzzFormat(f, "prometheus") }
