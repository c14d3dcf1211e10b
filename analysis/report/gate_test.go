package report

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tickmark/tickmark/datasets/spec"
)

func TestParseGate(t *testing.T) {
	for text, want := range map[string]Gate{
		"false_positives_hi[fixed:after=50ms] > 0.1%": {"false_positives_hi", "fixed:after=50ms", ">", "0.1%"},
		"longest_breach > 0s":                         {"longest_breach", "", ">", "0s"},
		"longest_breach>0s":                           {"longest_breach", "", ">", "0s"},
		" p99 [a[1], b >= 2] <= 5 ms ":                {"p99", "a[1], b >= 2", "<=", "5 ms"},
		"x[==] != -3":                                 {"x", "==", "!=", "-3"},
		"verdict == safe":                             {"verdict", "", "==", "safe"},
		"held==yes":                                   {"held", "", "==", "yes"},
		"n<1":                                         {"n", "", "<", "1"},
		"n >= 36,887":                                 {"n", "", ">=", "36,887"},
	} {
		got, err := ParseGate(text)
		if err != nil || got != want {
			t.Errorf("ParseGate(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestParseGateRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"":               "has no comparison",
		"longest_breach": "has no comparison",
		"x 0s":           "has no comparison",
		"x = 0s":         "has no comparison",
		"> 0s":           "names no column",
		"[row] > 0s":     "names no column",
		"x[row > 0s":     "the bracket is not closed",
		"x[] > 0s":       "the brackets name no row",
		"x[row] >":       "has no value",
		"x >=":           "has no value",
	} {
		_, err := ParseGate(text)
		var usage *spec.UsageError
		if !errors.As(err, &usage) || !strings.Contains(usage.Msg, says) || !strings.Contains(usage.Msg, "want COLUMN[ROW] OP VALUE") {
			t.Errorf("ParseGate(%q): error %v, want a usage error that says %q", text, err, says)
		}
	}
}

func limits() *Table {
	return &Table{
		Name:    "estimators",
		Columns: []Column{{"estimator", ""}, {"hi", "ratio"}, {"wait", "s"}, {"n", "count"}, {"held", ""}, {"verdict", ""}},
		Rows: [][]any{
			{"fixed:after=50ms", .0093, .05, int64(12), true, "safe"},
			{"jacobson:k=4,min=200ms", .001, .2, 3, false, "degraded"},
			{"odd[1] > 2", nil, math.NaN(), int64(0), nil, "collapses"},
		},
	}
}

func TestGateCheck(t *testing.T) {
	for text, want := range map[string]string{ // "" is passed
		"hi[fixed:after=50ms] > 0.1%":         "hi[fixed:after=50ms] > 0.1%: is 0.93 %",
		"hi[fixed:after=50ms] > 1%":           "",
		"hi[jacobson:k=4,min=200ms] > 0.1%":   "", // equal to the bit
		"hi[jacobson:k=4,min=200ms] >= 0.1%":  "hi[jacobson:k=4,min=200ms] >= 0.1%: is 0.1 %",
		"hi[jacobson:k=4,min=200ms] > 0.001":  "",
		"wait[fixed:after=50ms] < 50.00001ms": "wait[fixed:after=50ms] < 50.00001ms: is 50.00000 ms",
		"wait[fixed:after=50ms] != 50ms":      "",
		"n == 12":                             "n == 12: fixed:after=50ms is 12",
		"n <= 3":                              "n <= 3: jacobson:k=4,min=200ms is 3; odd[1] > 2 is 0",
		"n > 12":                              "",
		// What cannot be judged does not pass.
		"hi[odd[1] > 2] > 50%":   "hi[odd[1] > 2] > 50%: is null (not enough data)",
		"wait[odd[1] > 2] > 50s": "wait[odd[1] > 2] > 50s: is null (not enough data)",
		"wait > 1s":              "wait > 1s: odd[1] > 2 is null (not enough data)",
		// Words and switches are equal or not.
		"held[fixed:after=50ms] == yes":         "held[fixed:after=50ms] == yes: is yes",
		"held[fixed:after=50ms] == true":        "held[fixed:after=50ms] == true: is yes",
		"held[jacobson:k=4,min=200ms] != false": "",
		"verdict[fixed:after=50ms] != safe":     "",
		"verdict == collapses":                  "verdict == collapses: odd[1] > 2 is collapses",
	} {
		g, err := ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		failed, why, err := g.Check(limits())
		if err != nil || failed != (want != "") || why != want {
			t.Errorf("%s: failed %v, why %q, error %v; want %q", text, failed, why, err, want)
		}
	}
}

func TestGateCheckRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"wiat > 1s":                       `unknown column "wiat": did you mean "wait"?`,
		"wait[fixed:after=51ms] > 1s":     `unknown row "fixed:after=51ms": did you mean "fixed:after=50ms"?`,
		"wait[fixed:after=50ms] > 1":      `gate "wait[fixed:after=50ms] > 1": "1" is not a time with its unit, such as "250ms"`,
		"n > 3ms":                         `gate "n > 3ms": "3ms" is not a number`,
		"wait[odd[1] > 2] > fast":         `gate "wait[odd[1] > 2] > fast": "fast" is not a time with its unit, such as "250ms"`,
		"verdict[fixed:after=50ms] > a":   `gate "verdict[fixed:after=50ms] > a": "safe" is no number: compare it with == or !=`,
		"estimator[fixed:after=50ms] < 1": `gate "estimator[fixed:after=50ms] < 1": "fixed:after=50ms" is no number: compare it with == or !=`,
	} {
		g, err := ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		failed, _, err := g.Check(limits())
		var usage *spec.UsageError
		if failed || !errors.As(err, &usage) || usage.Msg != want {
			t.Errorf("%s: failed %v, error %v; want %s", text, failed, err, want)
		}
		if fits := g.Fits(limits()); fits == nil || fits.Error() != want {
			t.Errorf("%s: fits with error %v, want %s", text, fits, want)
		}
	}
}

func TestGateOverNothing(t *testing.T) {
	empty := &Table{Name: "audit", Columns: []Column{{"claim", ""}, {"longest_breach", "s"}}}
	failed, why, err := Gate{"longest_breach", "", ">", "0s"}.Check(empty)
	if want := `longest_breach > 0s: table "audit" has no rows`; !failed || why != want || err != nil {
		t.Errorf("failed %v, why %q, error %v; want %q", failed, why, err, want)
	}
}

// A column that is null in all rows is not short of data.
func TestGateOverAColumnOfNulls(t *testing.T) {
	table := &Table{Name: "estimators", Columns: []Column{{"estimator", ""}, {"wait", "s"}, {"verdict", ""}}, Rows: [][]any{
		{"a", math.NaN(), nil}, {"b", nil, nil},
	}}
	for text, want := range map[string]string{
		"wait > 1s":       "wait > 1s: is null in every row: not computed from this trace",
		"wait[b] > 1s":    "wait[b] > 1s: is null in every row: not computed from this trace",
		"verdict == safe": "verdict == safe: is null in every row: not computed from this trace",
	} {
		g, err := ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		if failed, why, err := g.Check(table); !failed || why != want || err != nil {
			t.Errorf("%s: failed %v, why %q, error %v; want %q", text, failed, why, err, want)
		}
		if err := g.Fits(table); err != nil {
			t.Errorf("%s does not fit: %v", text, err)
		}
	}
	if err := (Gate{"wait", "", ">", "fast"}).Fits(table); err == nil {
		t.Error("a value that is no time fits")
	}
	table.Rows = table.Rows[:1]
	if _, why, _ := (Gate{"wait", "", ">", "1s"}).Check(table); why != "wait > 1s: is null (not enough data)" {
		t.Errorf("of one row: why %q", why)
	}
}

// A gate that was read is written so that it is read the same.
func FuzzParseGate(f *testing.F) {
	f.Add("false_positives_hi[fixed:after=50ms] > 0.1%")
	f.Add("x[a]b] != [c")
	f.Add("x[>=]<=1")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGate(text)
		if err != nil {
			return
		}
		again, err := ParseGate(g.String())
		if err != nil || again != g {
			t.Fatalf("%q is %+v, written %q, read %+v, %v", text, g, g, again, err)
		}
		if strings.ContainsAny(g.Column, "[<>=! ") || g.Value == "" {
			t.Fatalf("%q is %+v", text, g)
		}
	})
}

// Of > and <=, == and !=, < and >=, exactly one fails, whatever the numbers.
func FuzzGateOpposites(f *testing.F) {
	f.Add(0.001, 0.001)
	f.Add(-1.0, math.MaxFloat64)
	f.Fuzz(func(t *testing.T, v, limit float64) {
		if math.IsNaN(v+limit) || math.IsInf(v, 0) || math.IsInf(limit, 0) {
			return
		}
		table := &Table{Columns: []Column{{"x", ""}}, Rows: [][]any{{v}}}
		for op, opposite := range map[string]string{">": "<=", "==": "!=", "<": ">="} {
			one, _, err1 := Gate{"x", "", op, bare(limit)}.Check(table)
			other, _, err2 := Gate{"x", "", opposite, bare(limit)}.Check(table)
			if err1 != nil || err2 != nil || one == other {
				t.Fatalf("%v %s %v is %v (%v), %s is %v (%v)", v, op, limit, one, err1, opposite, other, err2)
			}
		}
		if above, _, _ := (Gate{"x", "", ">", bare(limit)}).Check(table); above != (v > limit) {
			t.Fatalf("%v > %v is %v", v, limit, above)
		}
	})
}
