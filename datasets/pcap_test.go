package datasets_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// The sample has a request that passed at second 0, its answer 20 ms later, in which the
// server says 250 and 257.8125 ms, and a request without an answer.
func TestPcap(t *testing.T) {
	all := importSample(t, "pcap", "ntp.pcap")
	e := all.rows["ntp 192.0.2.10 to 192.0.2.1:123"][0].(*datasets.Exchange)
	theta, _ := e.Offset()
	delay, _ := e.Delay()
	if theta != (250*time.Millisecond+237812500)/2 || delay != 12187500 || optional(t, e.Stratum) != 1 {
		t.Errorf("θ %v, δ %v, %+v", theta, delay, e)
	}
	if diff := cmp.Diff([]string{"ntp.pcap: 1 NTP request was not answered"}, all.warnings); diff != "" {
		t.Error(diff)
	}
}

// Answered requests are those of Zeek's logs (see wire's own tests of the same captures).
func TestCorpusPcap(t *testing.T) {
	corpus(t, "MANIFEST.tsv")
	for path, want := range map[string]int{
		"pcap-ntp/zeek/ntp.pcap":            16,
		"pcap-ntp/zeek/ntp2.pcap":           17,
		"pcap-ntp/zeek/NTP_sync.pcap":       15,
		"pcap-ntp/zeek/misordered-ntp.pcap": 1,
		"pcap-ntp/leapsecond/ntp_2P.pcap":   215,
		"pcap-ntp/tcpdump/ntp.pcap":         4,
		"pcap-ptp/ptp_ethernet.pcap":        15,
	} {
		t.Run(path, func(t *testing.T) {
			all := corpusFile(t, path)
			if n := count(all); n != want {
				t.Errorf("%d rows, want %d; %v", n, want, all.warnings)
			}
		})
	}
	for _, path := range []string{ // packets without their other half, which is said
		"pcap-ntp/ndpi/NTPv2.pcap", "pcap-ntp/ndpi/NTPv3.pcap", "pcap-ntp/tcpdump/ntp-control.pcap", "pcap-ptp/ptp.pcap",
		"pcap-edge/time_2038.pcap", "pcap-edge/time_2106_overflow.pcapng", "pcap-edge/timestamp_invalid_micro.pcap",
	} {
		t.Run(path, func(t *testing.T) {
			_, err := importAll(path, []byte(corpus(t, path)), nil)
			if err == nil {
				t.Error("rows of a capture without an exchange")
			} else {
				oneLine(t, err)
				t.Log(err)
			}
		})
	}
}

func BenchmarkPcap(b *testing.B) {
	sample, err := os.ReadFile(filepath.Join(samplesOf("pcap"), "ntp.pcap"))
	if err != nil {
		b.Fatal(err)
	}
	const header = 24
	text := append(bytes.Clone(sample), bytes.Repeat(sample[header:], 20_000)...)
	packets := 0
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := datasets.Open("bench", bytes.NewReader(text), nil)
		if err != nil {
			b.Fatal(err)
		}
		var e datasets.Exchange
		for s.Next(&e) {
		}
		packets += 3 * 20_001
	}
	b.ReportMetric(float64(packets)/b.Elapsed().Seconds(), "packets/s")
}

func FuzzPcap(f *testing.F) { fuzzFormat(f, "pcap") }
