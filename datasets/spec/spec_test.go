package spec_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/datasets/spec/spectest"
)

// thing is whatever an entry was asked for, so that a test can see it.
type thing struct {
	Wait  time.Duration
	Share float64
	Text  string
	N     int
	On    bool
}

func table() spec.Table[thing] {
	return spec.Table[thing]{
		{Name: "full", Summary: "one option of each type", Bind: bindFull},
		{Name: "plain", Summary: "no options", Bind: func(*flag.FlagSet) func() (thing, error) {
			return func() (thing, error) { return thing{}, nil }
		}},
	}
}

func bindFull(fs *flag.FlagSet) func() (thing, error) {
	var x thing
	fs.DurationVar(&x.Wait, "wait", time.Minute, "how `long`")
	share := spec.Ratio(fs, "share", 0.999, "how `much`")
	fs.StringVar(&x.Text, "text", "", "any text")
	fs.IntVar(&x.N, "n", 4, "how many")
	fs.BoolVar(&x.On, "on", false, "whether at all")
	return func() (thing, error) {
		if x.Wait <= 0 {
			return thing{}, errors.New("wait must be positive")
		}
		x.Share = *share
		return x, nil
	}
}

func TestTable(t *testing.T) { spectest.Check(t, "estimator", table()) }

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		thing thing
		form  string
	}{
		"full":                                {thing{time.Minute, 0.999, "", 4, false}, "full:n=4,on=false,share=99.9%,text=,wait=1m"},
		"plain":                               {thing{}, "plain"},
		"full:":                               {thing{time.Minute, 0.999, "", 4, false}, "full:n=4,on=false,share=99.9%,text=,wait=1m"},
		"full:wait=90m,on,n=-2":               {thing{90 * time.Minute, 0.999, "", -2, true}, "full:n=-2,on=true,share=99.9%,text=,wait=1h30m"},
		`full:text="a,b=\"c\"",share=0.1%`:    {thing{time.Minute, 0.001, `a,b="c"`, 4, false}, `full:n=4,on=false,share=0.1%,text="a,b=\"c\"",wait=1m`},
		"full:text=a=b:c,wait=1h0m0.5s":       {thing{time.Hour + time.Second/2, 0.999, "a=b:c", 4, false}, "full:n=4,on=false,share=99.9%,text=a=b:c,wait=1h0m0.5s"},
		"full:text=,share=0.25":               {thing{time.Minute, 0.25, "", 4, false}, "full:n=4,on=false,share=25%,text=,wait=1m"},
		"full:share=1e-7,text=µ s":            {thing{time.Minute, 1e-7, "µ s", 4, false}, "full:n=4,on=false,share=1e-07,text=µ s,wait=1m"},
		`full:text="a,b"`:                     {thing{time.Minute, 0.999, "a,b", 4, false}, `full:n=4,on=false,share=99.9%,text="a,b",wait=1m`},
		`full:text="C:\\tmp"`:                 {thing{time.Minute, 0.999, `C:\tmp`, 4, false}, `full:n=4,on=false,share=99.9%,text="C:\\tmp",wait=1m`},
		"full:share=0.30000000000000004,n=10": {thing{time.Minute, 0.30000000000000004, "", 10, false}, "full:n=10,on=false,share=0.30000000000000004,text=,wait=1m"},
	} {
		got, form, err := table().Parse("estimator", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want.thing, got); diff != "" || form != want.form {
			t.Errorf("%s: form %q, want %q; thing (-want +got):\n%s", text, form, want.form, diff)
		}
	}
}

// Every refusal is one line that a user can act on.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                 `unknown policy "": want full, plain (tickmark list policies names them all)`,
		"ful":              `unknown policy "ful": did you mean "full"? (tickmark list policies names them all)`,
		"plain:n=1":        `plain takes no options, got "n"`,
		"full:wiat=1s":     `unknown full option "wiat": did you mean "wait"?`,
		"full:wait=1":      `full: option "wait": "1" is not a duration with its unit, such as "250ms"`,
		"full:n=four":      `full: option "n": "four" is not a whole number in range`,
		"full:share=lots":  `full: option "share": "lots" is not a share such as "99.9%" or "0.999"`,
		"full:on=maybe":    `full: option "on": "maybe" is not "true" or "false"`,
		"full:n=1,n=2":     `full: option "n" is set twice`,
		"full:n":           `full: option "n" needs a value: n=…`,
		"full:text":        `full: option "text" needs a value: text=…`,
		"full:n=1,":        `full: option "n": nothing follows the comma after "1"`,
		"full:on,":         `full: nothing follows the comma after "on"`,
		"full:,n=1":        `full: want option=value, got ",n=1"`,
		"full:=1":          `full: want option=value, got "=1"`,
		`full:text="a`:     `full: option "text": the quote in "a is not closed`,
		`full:text="a"n=1`: `full: option "text": want a comma and an option after "a"`,
		`full:text="a",`:   `full: option "text": want a comma and an option after "a"`,
		"full:wait=0s":     `full: wait must be positive`,
	} {
		_, form, err := table().Parse("policy", text)
		var usage *spec.UsageError
		if !errors.As(err, &usage) || form != "" {
			t.Errorf("%s: form %q, error %v; want a usage error", text, form, err)
			continue
		}
		if usage.Msg != want {
			t.Errorf("%s: error\n%s\nwant\n%s", text, usage.Msg, want)
		}
	}
}

func TestOptions(t *testing.T) {
	want := []spec.Option{
		{Name: "n", Default: "4", Usage: "how many", Placeholder: "int"},
		{Name: "on", Default: "false", Usage: "whether at all"},
		{Name: "share", Default: "99.9%", Usage: "how much", Placeholder: "much"},
		{Name: "text", Usage: "any text", Placeholder: "string"},
		{Name: "wait", Default: "1m", Usage: "how long", Placeholder: "long"},
	}
	if diff := cmp.Diff(want, table()[0].Options()); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// What was built once is built again from its canonical form, whatever the text.
func FuzzParse(f *testing.F) {
	f.Add("full:wait=90m,on,n=-2")
	f.Add(`full:text="a,b=\"c\"",share=0.1%`)
	f.Add("full:text=\xff\x00,share=1e-300")
	f.Add("full:wait=-1ns,share=33.333333333333336%")
	f.Fuzz(func(t *testing.T, text string) {
		built, form, err := table().Parse("estimator", text)
		if err != nil {
			var usage *spec.UsageError
			if !errors.As(err, &usage) {
				t.Fatalf("%q: error %v is no usage error", text, err)
			}
			return
		}
		again, same, err := table().Parse("estimator", form)
		if err != nil || same != form || again != built {
			t.Fatalf("%q: form %q gives %+v, form %q, error %v; want %+v", text, form, again, same, err, built)
		}
	})
}

// Any value comes through a spec unharmed when it is quoted as Go does.
func FuzzQuotedValue(f *testing.F) {
	f.Add(`a,b="c"`)
	f.Add("line\nbreak\x00")
	f.Add(`"`)
	f.Fuzz(func(t *testing.T, value string) {
		built, _, err := table().Parse("estimator", fmt.Sprintf("full:text=%q,n=7", value))
		if err != nil || built.Text != value || built.N != 7 {
			t.Fatalf("%q came back as %q, n=%d, error %v", value, built.Text, built.N, err)
		}
		if strings.ContainsAny(value, ",\"\\\n\r") || strings.HasPrefix(value, `"`) {
			return
		}
		built, _, err = table().Parse("estimator", "full:text="+value)
		if err != nil || built.Text != value {
			t.Fatalf("bare %q came back as %q, error %v", value, built.Text, err)
		}
	})
}
