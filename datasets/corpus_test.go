package datasets_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tickmark/tickmark/datasets"
)

// readBy says for each kind of the corpus which formats may take its files. A kind without
// one is refused as a whole, and why not is said here; so are single files, by the error
// that a user gets.
func readBy() map[string][]string {
	return map[string][]string{
		"allan":           nil, // numbers alone: to be described (--series, --tau0); results of Stable32 are no data
		"chrony-logs":     {"chrony-measurements", "chrony-statistics", "chrony-tracking"},
		"chronyc":         {"chronyc"},
		"cyclictest":      {"cyclictest"},
		"flent":           {"flent"},
		"fping":           {"fping"},
		"gc-log":          {"gclog"},
		"ghz":             {"ghz"},
		"hdr":             {"hlog", "hgrm"},
		"hey":             {"hey"},
		"iperf3":          {"iperf3"},
		"irtt":            {"irtt"},
		"jepsen":          {"jepsen"},
		"k6":              {"k6"},
		"latency-csv":     nil, // any CSV: its columns have to be named
		"leap-seconds":    nil, // a table of leap seconds is no measurement
		"linuxptp-daemon": {"linuxptp"},
		"mbgsvcd":         {"mbgsvcd"},
		"mtr":             {"mtr"},
		"nighthawk":       {"nighthawk", "fortio"},
		"ntp-timestamps":  {"fourstamps"}, // one file a stamp is no table of them
		"ntpd-stats":      {"ntpd-loopstats", "ntpd-peerstats", "ntpd-rawstats"},
		"ntppool-csv":     {"ntppool"},
		"ntpq":            {"ntpq"},
		"oslat":           {"oslat"},
		"pcap-edge":       {"pcap"},
		"pcap-ntp":        {"pcap"},
		"pcap-ptp":        {"pcap"},
		"phc2sys":         {"linuxptp"},
		"ping":            {"ping"},
		"pmc":             {"pmc"},
		"ptp-edges":       nil, // no reader yet
		"ptp4l":           {"linuxptp", "journal-json"},
		"ripe-atlas":      {"atlas"},
		"rtt-matrix":      {"matrix", "matrix-json"},
		"sptp":            {"linuxptp"},
		"time-sync-csv":   nil, // no reader yet
		"timedatectl":     {"timesyncd"},
		"traceroute":      {"traceroute"},
		"ts2phc":          {"linuxptp"},
		"vegeta":          {"vegeta"},
		"vse-dat":         nil, // no reader yet
		"wrk":             {"wrk"},
	}
}

// Every file of the corpus is taken by one format of its kind, or by none and refused in
// one line.
func TestCorpusIsRecognised(t *testing.T) {
	for line := range strings.Lines(corpus(t, "MANIFEST.tsv")) {
		cells := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		path, kind := cells[0], cells[1]
		allowed, known := readBy()[kind]
		if kind == "kind" { // the names of the columns
			continue
		}
		t.Run(path, func(t *testing.T) {
			if !known {
				t.Fatalf("kind %q is not known here", kind)
			}
			text := corpusBytes(t, path)
			var by []string
			for _, e := range datasets.Formats() {
				f, _, err := datasets.Formats().Parse("format", e.Name)
				if err == nil && f.Recognise(text[:min(len(text), 8<<10)]) {
					by = append(by, e.Name)
				}
			}
			all, err := importAll(path, text, nil)
			switch {
			case len(by) > 1:
				t.Errorf("taken by %v", by)
			case len(by) == 1 && !slices.Contains(allowed, by[0]):
				t.Errorf("taken by %s, which is none of %v", by[0], allowed)
			case err != nil:
				oneLine(t, err)
				t.Logf("refused: %v", err)
			case len(by) == 0:
				t.Error("rows of a file that no format takes")
			default:
				t.Logf("%s: %d rows of %d series", by[0], count(all), len(all.series))
			}
		})
	}
}

// corpusBytes returns a file of the corpus as a format sees it, unpacked.
func corpusBytes(t *testing.T, path string) []byte {
	t.Helper()
	dir := os.Getenv("TICKMARK_CORPUS")
	if dir == "" {
		dir = "../../shared/corpus"
	}
	f, err := os.Open(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := datasets.Decompress(path, f)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(plain); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
