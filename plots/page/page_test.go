package page_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/adaptive"
	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/plots"
	"github.com/tickmark/tickmark/plots/page"
)

var render = flag.String("render", "", "file into which TestWholePage writes its page, to be looked at")

// record writes rows as a trace and opens it again.
func record(tb testing.TB, name string, kind datasets.Kind, rows ...datasets.Row) []plots.Trace {
	tb.Helper()
	h := &datasets.Header{}
	h.Set(datasets.KeyKind, string(kind))
	h.Set(datasets.KeyProbe, "udp:payload=64")
	h.Set(datasets.KeyTarget, "api-3:443")
	h.SetEpoch(time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC))
	h.SetDuration(datasets.KeyListen, 2*time.Second)
	h.SetDuration(datasets.KeyObserved, time.Minute)
	var b bytes.Buffer
	w, err := datasets.NewWriter(&b, h)
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	s, err := datasets.Open(name, &b, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return []plots.Trace{{Name: name, Rows: s}}
}

// trips makes a minute of calls, one every 6 ms, with one freeze and some losses.
func trips() []datasets.Row {
	r := rand.New(rand.NewPCG(1, 1))
	rows := make([]datasets.Row, 10_000)
	for i := range rows {
		due := time.Duration(i) * 6 * time.Millisecond
		d := time.Duration(10e6 * math.Exp(0.25*r.NormFloat64()))
		if due >= 21*time.Second && due < 21400*time.Millisecond {
			d += 21400*time.Millisecond - due
		}
		s := &datasets.Sample{
			Seq: int64(i), Call: int64(i), Attempt: 1, Due: datasets.Instant(due), Sent: datasets.Instant(due),
			Elapsed: d, Outcome: datasets.Replied, Copies: 1, Inflight: 1, Size: 64,
		}
		if i%2400 == 2399 {
			s.Outcome, s.Elapsed = datasets.TimedOut, 0
		}
		rows[i] = s
	}
	return rows
}

func exchanges() []datasets.Row {
	r := rand.New(rand.NewPCG(2, 1))
	rows := make([]datasets.Row, 60)
	for i := range rows {
		due := time.Duration(i) * time.Second
		at, out, back := int64(1790000000e9)+int64(due), 90_000+r.Int64N(50_000), 90_000+r.Int64N(50_000)
		rows[i] = &datasets.Exchange{
			Sample: datasets.Sample{Seq: int64(i), Attempt: 1, Due: datasets.Instant(due), Sent: datasets.Instant(due), Elapsed: time.Duration(out + back)},
			T1:     datasets.NewStamp(at, datasets.Local, datasets.Kernel), T2: datasets.NewStamp(at+out+120_000, datasets.Remote, datasets.Kernel),
			T3: datasets.NewStamp(at+out+140_000, datasets.Remote, datasets.Kernel), T4: datasets.NewStamp(at+out+back+20_000, datasets.Local, datasets.Kernel),
		}
	}
	return rows
}

func stops() []datasets.Row {
	r := rand.New(rand.NewPCG(3, 1))
	rows := make([]datasets.Row, 40)
	for i := range rows {
		rows[i] = &datasets.Pause{At: datasets.Instant(i) * 15e8, Length: time.Duration(0.3e6 * math.Exp(r.ExpFloat64()))}
	}
	return rows
}

func draw(tb testing.TB, figure string, traces []plots.Trace) page.Figure {
	tb.Helper()
	c, err := plots.Draw(figure, traces)
	if err != nil {
		tb.Fatal(err)
	}
	return page.Figure{Chart: c}
}

// whole is a report of everything that can be reported.
func whole(tb testing.TB) page.Report {
	tb.Helper()
	rtt := func() []plots.Trace { return record(tb, "api.trace", datasets.RTT, trips()...) }
	tuning, err := adaptive.Tune(rtt()[0].Rows, nil, adaptive.Goal{})
	if err != nil {
		tb.Fatal(err)
	}
	summary := report.Table{
		Name: "summary", Caption: "The trace api.trace in numbers; quantiles with 95 % order-statistic intervals",
		Columns: []report.Column{
			{Name: "target"},
			{Name: "samples", Unit: "count"},
			{Name: "timed_out", Unit: "count"},
			{Name: "p50", Unit: "s"},
			{Name: "p50_lo", Unit: "s"},
			{Name: "p50_hi", Unit: "s"},
			{Name: "p99", Unit: "s"},
			{Name: "p99_lo", Unit: "s"},
			{Name: "p99_hi", Unit: "s"},
			{Name: "p9999", Unit: "s"},
		},
		Rows: [][]any{{"api-3:443", 30_000, 4, 0.01001, 0.00998, 0.01004, 0.0183, 0.0179, 0.0188, nil}},
	}
	facts := report.Table{Name: "facts", Caption: "The host and the tool", Columns: []report.Column{{Name: "what"}, {Name: "value"}}, Rows: [][]any{
		{"command", "tickmark run -o run-1"},
		{"tickmark", "0.1.0"},
		{"kernel", "Linux 6.18.0"},
		{"clock source", "tsc"},
		{"api.trace", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
	}}
	return page.Report{
		Title: "This host against api-3", Subtitle: "One minute of measurements, 30 November 2026, 09:30 UTC",
		Verdict: []string{
			"This clock is slow by 120 µs ± 98 µs; half the round trip is what dominates that.",
			"A timeout of 500 ms gives up on 0 of 30,000 answered calls [0, 0.012 %]; 50 ms gives up on 0.61 % [0.53, 0.71].",
			"One freeze of 410 ms becomes 182 timeouts, and no outage: without retries the queue is empty again after 0.4 s.",
			"A lease needs a margin of at least 414 ms on this host.",
			"p99.99 could not be answered: it needs 36,887 samples, has 30,000 (measure 14 s more at this rate).",
		},
		Changes: []page.Snippet{
			{"chrony.conf", "conf", "# offset 120 µs ± 98 µs, 60 exchanges with ntp1, 30 Nov 2026\nserver ntp1 iburst minpoll 4 maxpoll 6 xleave\n"},
			{"Envoy route", "yaml", "# false positives 0 of 30,000 [0, 0.012 %]\ntimeout: 0.500s\nretry_policy: { num_retries: 1, per_try_timeout: 0.500s }\n"},
		},
		Sections: []page.Section{
			{
				Title: "Clocks", Text: "Half the round trip is what dominates the bound of the offset. A nearer server would narrow it.",
				Figures: []page.Figure{draw(tb, "offset", record(tb, "ntp1.trace", datasets.Exchanges, exchanges()...))},
			},
			{
				Title: "Round trips", Text: "One freeze of the peer at 21 s, and a calm remainder.\n\nThe tail is that freeze and nothing else.",
				Figures: []page.Figure{draw(tb, "rtt", rtt()), draw(tb, "survival", rtt())}, Tables: []report.Table{summary},
			},
			{
				Title: "Pauses of this process", Text: "None of them explains the freeze.",
				Figures: []page.Figure{draw(tb, "pauses", record(tb, "pause.trace", datasets.Pauses, stops()...))},
			},
			{
				Title: "Timeouts", Text: "The estimators that adapt do no better on this trace than the right fixed timeout.",
				Figures: []page.Figure{draw(tb, "tradeoff", rtt())}, Tables: []report.Table{tuning.Brief()},
				Details: []page.Detail{{
					Summary: "Jacobson's estimator over time, and all columns of the comparison",
					Figures: []page.Figure{draw(tb, "timeout", rtt())}, Tables: []report.Table{tuning.Table()},
				}},
			},
		},
		Facts:    []report.Table{facts},
		Warnings: append(tuning.Warnings, "the server says nothing of its root dispersion: the offset is bounded against it, not against UTC"),
	}
}

func rendered(tb testing.TB, r page.Report) string {
	tb.Helper()
	var b bytes.Buffer
	if err := page.Render(&b, r); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestWholePage(t *testing.T) {
	text := rendered(t, whole(t))
	if *render != "" {
		if err := os.WriteFile(*render, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(text) > 2<<20 {
		t.Errorf("%d bytes, want at most 2 MiB", len(text))
	}
	for _, bad := range []string{"<script", "<link", "<img", "@import", "url(", "ZgotmplZ", "src="} {
		if strings.Contains(text, bad) {
			t.Errorf("%s is in it: the page must stand alone", bad)
		}
	}
	for _, m := range regexp.MustCompile(`https?://[^"<\s]*`).FindAllString(text, -1) {
		if m != "http://www.w3.org/2000/svg" { // a name, not an address
			t.Errorf("it refers to %s", m)
		}
	}
}

// TestIDsAreUniqueAndMeant holds that each id stands once and each reference to one
// leads somewhere.
func TestIDsAreUniqueAndMeant(t *testing.T) {
	text := rendered(t, whole(t))
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if ids[m[1]] {
			t.Errorf("id %q stands twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:aria-labelledby="|href="#)([^"]*)"`).FindAllStringSubmatch(text, -1) {
		for id := range strings.FieldsSeq(m[1]) {
			if !ids[id] {
				t.Errorf("%q leads nowhere", id)
			}
		}
	}
}

func TestHeadingsAreInOrder(t *testing.T) {
	level := 0
	for _, m := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(rendered(t, whole(t)), -1) {
		next := int(m[1][0] - '0')
		if next > level+1 {
			t.Errorf("a heading of level %d follows one of level %d", next, level)
		}
		level = next
	}
	if level == 0 {
		t.Error("no heading")
	}
}

func TestVerdictStandsFirst(t *testing.T) {
	r := whole(t)
	text := rendered(t, r)
	at := 0
	for _, want := range append(append([]string{}, r.Verdict...), "What to change", "Evidence", "How it was measured", "Doubts") {
		i := strings.Index(text[at:], ">"+want+"<")
		if i < 0 {
			t.Fatalf("%q is missing, or too early", want)
		}
		at += i
	}
	r.Verdict = append(r.Verdict, "One more.")
	if err := page.Render(&bytes.Buffer{}, r); err == nil || err.Error() != "page: the verdict has 6 sentences: want at most 5" {
		t.Errorf("got %v", err)
	}
}

// TestNumbersAreTheCommands holds cells to those of the text that commands print.
func TestNumbersAreTheCommands(t *testing.T) {
	text := rendered(t, whole(t))
	for _, want := range []string{
		`<td class="n">30,000</td><td class="n">4</td><td class="n">10.01 [9.98, 10.04]</td>`,
		`<th scope="col" class="n">false positives (%)</th>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(text, "p9999") {
		t.Error("a column with nothing in it is shown")
	}
}

func TestOneRowOfManyColumnsIsTurned(t *testing.T) {
	table := report.Table{Name: "summary", Rows: [][]any{{}}}
	for i := range 9 {
		table.Columns = append(table.Columns, report.Column{Name: fmt.Sprintf("c_%d", i), Unit: "s"})
		table.Rows[0] = append(table.Rows[0], float64(i)*1e-3)
	}
	text := rendered(t, page.Report{Title: "x", Facts: []report.Table{table}})
	for _, want := range []string{`<tr><th scope="row">c 7 (ms)</th><td>7</td></tr>`, `<caption><span id="table-1">summary</span></caption>`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// TestHostileTextsStayText puts markup wherever a text can come from outside.
func TestHostileTextsStayText(t *testing.T) {
	for i, bad := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "a\x00\x1b[0m|b\\|c*_`<&lt;", "javascript:alert(1)", "</style></svg>"} {
		c, err := plots.Draw("rtt", record(t, bad, datasets.RTT, trips()[:100]...))
		if err != nil {
			t.Fatal(err)
		}
		c.Spec = bad
		table := report.Table{Name: bad, Caption: bad, Columns: []report.Column{{Name: "name"}, {Name: "v", Unit: "s"}}, Rows: [][]any{{bad, 1.0}}}
		text := rendered(t, page.Report{
			Title: bad, Subtitle: bad, Verdict: []string{bad}, Changes: []page.Snippet{{bad, bad, bad}}, Warnings: []string{bad}, Facts: []report.Table{table},
			Sections: []page.Section{{
				Title: bad, Text: bad, Figures: []page.Figure{{Chart: c, Data: bad}}, Tables: []report.Table{table},
				Details: []page.Detail{{Summary: bad, Text: bad}},
			}},
		})
		for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(text, -1) {
			if strings.HasPrefix(tag, "<script") || strings.HasPrefix(tag, "<img") || regexp.MustCompile(`\son\w+=`).MatchString(unquoted(tag)) || strings.Contains(tag, `href="javascript`) {
				t.Errorf("%d: %s", i, tag)
			}
		}
		if n := strings.Count(text, "</style>"); n != 1 {
			t.Errorf("%d: the style sheet ends %d times", i, n)
		}
	}
}

// unquoted is a tag without the values of its attributes.
func unquoted(tag string) string { return regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tag, `""`) }

func TestEmptyReportSaysSo(t *testing.T) {
	text := rendered(t, page.Report{Title: "Nothing"})
	if !strings.Contains(text, "Nothing was measured that an answer could rest on.") {
		t.Error("it does not say so")
	}
}

func TestManyNumbersAreNotCarriedAlong(t *testing.T) {
	n := 5000
	line := &plots.Line{Name: "line", X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		line.X[i], line.Y[i] = float64(i)+1./3, math.Sqrt(float64(i))
	}
	c := &plots.Chart{Title: "x", Spec: "rtt:gap=1s", Layers: []plots.Layer{line}}
	text := rendered(t, page.Report{Title: "x", Sections: []page.Section{{Title: "s", Figures: []page.Figure{{Chart: c}, {Chart: c, Data: "figures/rtt.csv"}}}}})
	for _, want := range []string{"tickmark plot 'rtt:gap=1s' TRACE -o rtt.csv", `href="figures/rtt.csv"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(text, "data:text/csv") {
		t.Error("they are in the page")
	}
}

func ExampleRender() {
	var b bytes.Buffer
	err := page.Render(&b, page.Report{Title: "run-1", Verdict: []string{"p99.9: needs 3,688 samples, has 12."}})
	fmt.Println(err, strings.Contains(b.String(), "needs 3,688 samples"))
	// Output: <nil> true
}
