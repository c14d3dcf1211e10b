package spectest

import (
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets/spec"
)

func none(*flag.FlagSet) func() (int, error) { return func() (int, error) { return 0, nil } }

func good() spec.Entry[int] {
	return spec.Entry[int]{Name: "fixed", Summary: "the same for every attempt", Bind: func(fs *flag.FlagSet) func() (int, error) {
		fs.Duration("after", time.Second, "the `timeout`")
		fs.String("file", "a,b", "a `path`")
		return func() (int, error) { return 0, nil }
	}}
}

func TestCheckPassesAGoodTable(t *testing.T) {
	Check(t, "estimator", spec.Table[int]{good(), {Name: "plain", Summary: "RFC 6298 without options", Bind: none}})
}

// A check that finds nothing in a broken table is worth nothing.
func TestProblemsAreFound(t *testing.T) {
	with := func(change func(e *spec.Entry[int])) spec.Table[int] {
		e := good()
		change(&e)
		return spec.Table[int]{e}
	}
	for name, c := range map[string]struct {
		table spec.Table[int]
		says  string
	}{
		"empty table":        {nil, "empty"},
		"name twice":         {spec.Table[int]{good(), good()}, "taken twice"},
		"name in capitals":   {with(func(e *spec.Entry[int]) { e.Name = "Fixed" }), "joined by hyphens"},
		"no summary":         {with(func(e *spec.Entry[int]) { e.Summary = "" }), "one line"},
		"sentence":           {with(func(e *spec.Entry[int]) { e.Summary = "it waits." }), "full stop"},
		"capital":            {with(func(e *spec.Entry[int]) { e.Summary = "The same" }), "lower case"},
		"long summary":       {with(func(e *spec.Entry[int]) { e.Summary = strings.Repeat("x", 101) }), "at most 100"},
		"option not helped":  {with(func(e *spec.Entry[int]) { e.Bind = flagged("after", "") }), "usage of after"},
		"option in capitals": {with(func(e *spec.Entry[int]) { e.Bind = flagged("After", "wait") }), "joined by hyphens"},
		"defaults fail":      {with(func(e *spec.Entry[int]) { e.Bind = failing }), "do not build"},
		"form wanders":       {with(func(e *spec.Entry[int]) { e.Bind = wandering }), "want itself"},
	} {
		t.Run(name, func(t *testing.T) {
			found := tableProblems(c.table)
			for _, e := range c.table {
				found = append(found, entryProblems("estimator", c.table, e)...)
			}
			if !strings.Contains(strings.Join(found, "\n"), c.says) {
				t.Errorf("found %q, want one that says %q", found, c.says)
			}
		})
	}
}

func flagged(name, usage string) func(*flag.FlagSet) func() (int, error) {
	return func(fs *flag.FlagSet) func() (int, error) {
		fs.Int(name, 1, usage)
		return none(fs)
	}
}

func failing(*flag.FlagSet) func() (int, error) {
	return func() (int, error) { return 0, errors.New("needs a file") }
}

// wandering has a value that never writes itself as it was read.
func wandering(fs *flag.FlagSet) func() (int, error) {
	fs.Var(new(growing), "k", "a `factor`")
	return none(fs)
}

type growing string

func (g *growing) String() string        { return string(*g) }
func (g *growing) Set(text string) error { *g = growing(text + "1"); return nil }
