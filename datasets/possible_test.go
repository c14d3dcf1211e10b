package datasets_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// One cell of a good row is changed at a time.
func TestImpossibleRowsAreLeftOut(t *testing.T) {
	const far = "more than 146 years from the start of the trace"
	good := map[string]string{
		"seq": "0", "call": "0", "attempt": "1", "due": "5", "sent": "6", "elapsed": "1000", "outcome": "replied",
		"copies": "1", "deadline": "-", "stall": "0", "inflight": "1", "size": "64",
	}
	columns := []string{"seq", "call", "attempt", "due", "sent", "elapsed", "outcome", "copies", "deadline", "stall", "inflight", "size"}
	row := func(changed ...string) string {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = good[c]
			for _, change := range changed {
				if v, ok := strings.CutPrefix(change, c+"="); ok {
					cells[i] = v
				}
			}
		}
		return strings.Join(cells, "\t")
	}
	for changed, want := range map[string]string{ // "" is possible
		"":                            "",
		"sent=5":                      "",
		"elapsed=0":                   "",
		"outcome=timed-out elapsed=-": "",
		"outcome=timed-out elapsed=7": "",
		"due=-4611686018427387903 sent=-4611686018427387903":          "", // 1 − 2^62 ns
		"due=-4611686018427387903 sent=4611686018427387903 elapsed=0": "", // a latency of 2^63 − 2 ns
		"elapsed=-":                    `elapsed "-": an answered attempt has one`,
		"outcome=late elapsed=-":       `elapsed "-": an answered attempt has one`,
		"elapsed=-5":                   `elapsed "-5": must not be negative`,
		"outcome=refused elapsed=-5":   `elapsed "-5": must not be negative`,
		"sent=4":                       `sent "4": before it was due, at 5`,
		"attempt=0":                    `attempt "0": the first is 1`,
		"copies=-1":                    `copies "-1": must not be negative`,
		"stall=-1":                     `stall "-1": must not be negative`,
		"inflight=-1":                  `inflight "-1": must not be negative`,
		"size=-1":                      `size "-1": must not be negative`,
		"deadline=0":                   `deadline "0": must be positive`,
		"deadline=4611686018427387904": `deadline "4611686018427387904": ` + far,
		"due=-4611686018427387904":     `due "-4611686018427387904": ` + far,
		"sent=4611686018427387904":     `sent "4611686018427387904": ` + far,
		"elapsed=9223372036854775807":  `elapsed "9223372036854775807": ` + far, // the sum with sent would be negative
	} {
		text := "tickmark-trace 1\nkind: rtt\n" + strings.Join(columns, "\t") + "\n" + row() + "\n" + row(strings.Fields(changed)...) + "\n# end: 2\n"
		checkSecondRow(t, changed, text, &datasets.Sample{}, want)
	}
	for text, want := range map[string]string{
		"pause\nat\tlength\n1\t1\n1\t0":                                                                                "",
		"pause\nat\tlength\n1\t1\n1\t-1":                                                                               `length "-1": must not be negative`,
		"pause\nat\tlength\n1\t1\n4611686018427387903\t1":                                                              `length "1": ` + far,
		"pause\nat\tlength\n1\t1\n4611686018427387904\t0":                                                              `at "4611686018427387904": ` + far,
		"clock\nat\trealtime\tmonotonic\traw\tboottime\twidth\n1\t1u\t1\t1\t1\t0\n1\t1u\t1\t1\t1\t-1":                  `width "-1": must not be negative`,
		"clock\nat\trealtime\tmonotonic\traw\tboottime\twidth\n1\t1u\t1\t1\t1\t0\n4611686018427387904\t1u\t1\t1\t1\t1": `at "4611686018427387904": ` + far,
	} {
		kind, _, _ := strings.Cut(text, "\n")
		r, _ := datasets.NewRow(datasets.Kind(kind))
		checkSecondRow(t, text, "tickmark-trace 1\nkind: "+text+"\n# end: 2\n", r, want)
	}
}

// checkSecondRow holds that the first of two rows is read, and the second unless it
// is impossible.
func checkSecondRow(t *testing.T, name, text string, row datasets.Row, want string) {
	t.Helper()
	s, err := datasets.Open("x", strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for s.Next(row) {
		rows++
	}
	wantRows, wantWarnings := 2, []string(nil)
	if want != "" {
		line := strings.Count(text, "\n") - 1
		wantRows, wantWarnings = 1, []string{fmt.Sprintf("x: 1 line could not be read and is left out: line %d: %s", line, want)}
	}
	if diff := cmp.Diff(wantWarnings, s.Warnings()); rows != wantRows || diff != "" || s.Err() != nil {
		t.Errorf("%s: %d rows, error %v, warnings %s", name, rows, s.Err(), diff)
	}
}

// An impossible round trip is none in an exchange either.
func TestExchangeIsCheckedAsASample(t *testing.T) {
	bad := rows()[2].(*datasets.Exchange)
	bad.Copies = -1
	r, err := datasets.Open("x", strings.NewReader(string(write(t, newHeader(datasets.Exchanges), bad))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Next(&datasets.Exchange{}) || r.Err() == nil {
		t.Errorf("read with error %v", r.Err())
	}
}
