package datasets_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

func TestFactsReadBackAsAdded(t *testing.T) {
	var c datasets.Claim
	want := [][2]string{
		{"poll", "6"},
		{"state", "two words"},
		{"empty", ""},
		{"quoted", `say "no"`},
		{"equals", "a=b=c"},
		{"lines", "a\nb\tc"},
		{"dash", "-"},
		{"sign", "-1.5e-06"},
		{"broken", "\xff"},
	}
	for _, f := range want {
		c.AddFact(f[0], f[1])
	}
	var got [][2]string
	for k, v := range c.AllFacts() {
		got = append(got, [2]string{k, v})
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if v, ok := c.Fact("equals"); v != "a=b=c" || !ok {
		t.Errorf("equals: %q, %v", v, ok)
	}
	if v, ok := c.Fact("equal"); v != "" || ok {
		t.Errorf("a fact nobody added: %q, %v", v, ok)
	}
	if !strings.HasPrefix(c.Facts, `poll=6 state="two words" empty=""`) {
		t.Errorf("written as %s", c.Facts)
	}
}

// FuzzFacts: whatever is added is read back, and foreign text gives facts that can be
// added again.
func FuzzFacts(f *testing.F) {
	f.Add("poll", "6", `a=1 b="x y" c`)
	f.Add("k", "a \"b\"\x00", `=" `)
	f.Add("k", "", `a="b"c=d e=f`)
	f.Fuzz(func(t *testing.T, key, value, text string) {
		foreign := datasets.Claim{Facts: text}
		var again datasets.Claim
		n := 0
		for k, v := range foreign.AllFacts() {
			if n++; n > len(text) {
				t.Fatalf("%q: more facts than bytes", text)
			}
			again.AddFact(k, v)
		}
		kept := 0
		for range again.AllFacts() {
			kept++
		}
		if kept != n {
			t.Errorf("%q: %d facts, %d after adding them again as %q", text, n, kept, again.Facts)
		}
		if key == "" || strings.ContainsAny(key, "= ") {
			return // a key is a word of ours
		}
		if _, there := again.Fact(key); there {
			return
		}
		again.AddFact(key, value)
		if got, ok := again.Fact(key); !ok || got != value {
			t.Errorf("%q of %q: %q, %v", key, again.Facts, got, ok)
		}
	})
}

func TestImpossibleClaimsAreBadLines(t *testing.T) {
	const head = "tickmark-trace 1\nkind: claim\nat\twall\tsource\tstatus\toffset\tbound\troot_delay\troot_dispersion\tfrequency\tskew\tstratum\tleap\treference\tage\tfacts\twhy\n"
	for _, c := range []struct{ row, want string }{
		{"1\t-\t-\tstale\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-", `source "-": a claim is somebody's`},
		{"1\t-\tkernel\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-", `status "-": a claim has one`},
		{"1\t-\tkernel\tstale\t-\t-1\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-", `bound "-1": must not be negative`},
		{"1\t-\tkernel\tstale\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-5\t-\t-", `age "-5": must not be negative`},
		{"1\t-\tkernel\tstale\t9223372036854775807\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-", `offset "9223372036854775807": more than 146 years`},
		{"9223372036854775807\t-\tkernel\tstale\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-", "more than 146 years from the start"},
	} {
		r, err := datasets.Open("x", strings.NewReader(head+c.row+"\n# end: 1\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		var row datasets.Claim
		if r.Next(&row) || r.Err() == nil || !strings.Contains(r.Err().Error(), c.want) {
			t.Errorf("%q was read, err %v\nwant %s", c.row, r.Err(), c.want)
		}
	}
}

// aClaim is one with every cell set.
func aClaim() *datasets.Claim {
	return &datasets.Claim{
		At: 7, Wall: datasets.NewStamp(8, datasets.Local, datasets.User), Source: "chronyd 192.0.2.1", Status: datasets.Selected,
		Offset: datasets.Some(-time.Microsecond), Bound: datasets.Some(time.Millisecond), RootDelay: datasets.Some(time.Duration(0)),
		RootDispersion: datasets.Some(time.Nanosecond), Frequency: datasets.Some(datasets.PPB(-11064)), Skew: datasets.Some(datasets.PPB(15)),
		Stratum: datasets.Some(2), Leap: datasets.Some(3), Reference: "C6336403", Age: datasets.Some(time.Second),
		Facts: `state=sync name="a b"`, Why: "stale\treply",
	}
}
