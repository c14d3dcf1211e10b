package datasets_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// fates writes each attempt as its latency or its outcome, a + for each further answer.
func fates(rows []datasets.Row) (fates []string) {
	for _, r := range rows {
		s := r.(*datasets.Sample)
		fate := s.Outcome.String()
		if s.Outcome.Answered() {
			fate = s.Elapsed.String() + strings.Repeat("+", s.Copies-1)
		}
		fates = append(fates, fate)
	}
	return fates
}

func TestPing(t *testing.T) {
	for sample, want := range map[string][]string{
		"iputils.txt": {"timed-out", "31.4ms", "2.031s", "125µs+", "refused", "timed-out"},
		"stamped.txt": {"31.4ms", "timed-out", "250µs"},
		"bsd.txt":     {"27.01ms", "timed-out", "42.506ms"},
		"windows.txt": {"14ms", "timed-out", "1ms"},
	} {
		all := importSample(t, "ping", sample)
		if diff := cmp.Diff(want, fates(all.rows[all.series[0]])); diff != "" {
			t.Errorf("%s: %s", sample, diff)
		}
	}
	// The stamp is of the answer, so that the attempt was due before it.
	all := importSample(t, "ping", "stamped.txt")
	if at := all.rows["2001:db8::7"][2].(*datasets.Sample).Due; at != datasets.Instant(time.Second) {
		t.Error(at)
	}
	all = importSample(t, "fping", "c.log")
	if diff := cmp.Diff([]string{"timed-out", "timed-out", "1ms"}, fates(all.rows["192.0.2.77"])); diff != "" {
		t.Error(diff)
	}
	all = importSample(t, "fping", "list.log")
	if diff := cmp.Diff([]string{"48µs", "48µs", "timed-out", "55µs"}, fates(all.rows["192.0.2.1"])); diff != "" {
		t.Error(diff)
	}
}

// The JSON beside each file is an independent reading of it, by the jc parsers.
func TestCorpusPing(t *testing.T) {
	corpus(t, "MANIFEST.tsv")
	for path, losses := range map[string]int{ // sent but not answered, by the summary in the file
		"ping/alpine-linux-3.13_ping-hostname.out":    0,
		"ping/centos-7.7_ping-hostname-O-D-p-s.out":   0,
		"ping/centos-7.7_ping-ip-dup.out":             0,
		"ping/centos-7.7_ping6-ip-dup.out":            0,
		"ping/freebsd12_ping-hostname.out":            0,
		"ping/osx-10.14.6_ping-ip-unreachable.out":    8,
		"ping/pi_ping-ip-O-D.out":                     5,
		"ping/ubuntu-22.04_ping-dest-unreachable.out": 3,
	} {
		t.Run(path, func(t *testing.T) {
			all := corpusFile(t, path)
			var jc struct {
				Sent      int `json:"packets_transmitted"`
				Responses []struct {
					Type      string  `json:"type"`
					Seq       int     `json:"icmp_seq"`
					Time      float64 `json:"time_ms"`
					Duplicate bool    `json:"duplicate"`
				} `json:"responses"`
			}
			if err := json.Unmarshal([]byte(corpus(t, strings.TrimSuffix(path, filepath.Ext(path))+".json")), &jc); err != nil {
				t.Fatal(err)
			}
			rows := all.rows[all.series[0]]
			if len(rows) != jc.Sent {
				t.Fatalf("%d attempts, and %d were sent: %v", len(rows), jc.Sent, fates(rows))
			}
			var want []time.Duration
			copies, told := 0, 0
			for _, r := range jc.Responses {
				if r.Type == "reply" {
					copies++
					if !r.Duplicate {
						want = append(want, time.Duration(r.Time*1e6+0.5))
					}
				}
			}
			var got []time.Duration
			lost := 0
			for _, r := range rows {
				s := r.(*datasets.Sample)
				told += s.Copies
				if s.Outcome.Answered() {
					got = append(got, s.Elapsed)
				} else {
					lost++
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || copies != told || lost != losses {
				t.Errorf("%d of %d answers, %d lost: %s", told, copies, lost, diff)
			}
		})
	}
	t.Run("fping/fping-5.1-C-q.txt", func(t *testing.T) {
		lost := fates(corpusFile(t, "fping/fping-5.1-C-q.txt").rows["198.51.100.77"])
		if len(lost) != 6 || strings.Count(strings.Join(lost, " "), "timed-out") != 6 {
			t.Error(lost)
		}
	})
	t.Run("fping/fping-5.1-D-c.txt", func(t *testing.T) {
		if n := count(corpusFile(t, "fping/fping-5.1-D-c.txt")); n != 18 {
			t.Error(n)
		}
	})
}

func FuzzPing(f *testing.F)  { fuzzFormat(f, "ping") }
func FuzzFping(f *testing.F) { fuzzFormat(f, "fping") }
