package spec

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// Entry is one kind of thing a user can ask for by name. Bind declares its
// options on a flag set and returns the function that builds it once they are
// set; building does no I/O.
type Entry[T any] struct {
	Name    string
	Summary string
	Bind    func(*flag.FlagSet) func() (T, error)
}

// Table holds every kind of one noun: all estimators, all probes.
type Table[T any] []Entry[T]

// Option describes one option of an entry, its default in canonical form.
type Option struct {
	Name, Default, Usage, Placeholder string
}

// UsageError is a spec that the user has to write differently. A command that
// gets one exits 2.
type UsageError struct{ Msg string }

func (e *UsageError) Error() string { return e.Msg }

// Parse builds the thing that text ("name:option=value,…") asks for and returns
// it with the canonical form of text: every option written out, sorted by name.
// The noun ("estimator") is used in errors, which are all *UsageError.
func (t Table[T]) Parse(noun, text string) (T, string, error) {
	var none T
	name, rest, _ := strings.Cut(text, ":")
	e, ok := t.entry(name)
	if !ok {
		return none, "", &UsageError{unknown(noun, name, t.Names()) + seeList(noun)}
	}
	fs := newFlagSet(name)
	build := e.Bind(fs)
	options, err := splitOptions(rest)
	if err != nil {
		return none, "", &UsageError{fmt.Sprintf("%s: %v", name, err)}
	}
	if err := set(fs, name, options); err != nil {
		return none, "", &UsageError{err.Error()}
	}
	built, err := build()
	if err != nil {
		return none, "", &UsageError{fmt.Sprintf("%s: %v", name, err)}
	}
	return built, canonical(name, fs), nil
}

// Names returns the names in the table, in its order.
func (t Table[T]) Names() []string {
	names := make([]string, len(t))
	for i, e := range t {
		names[i] = e.Name
	}
	return names
}

// Options returns what the named entry can be told, sorted by name.
func (e Entry[T]) Options() []Option {
	fs := newFlagSet(e.Name)
	e.Bind(fs)
	var options []Option
	fs.VisitAll(func(f *flag.Flag) {
		placeholder, usage := flag.UnquoteUsage(f)
		options = append(options, Option{f.Name, tidy(f.Value), usage, placeholder})
	})
	return options
}

func (t Table[T]) entry(name string) (Entry[T], bool) {
	for _, e := range t {
		if e.Name == name {
			return e, true
		}
	}
	return Entry[T]{}, false
}

func newFlagSet(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

func set(fs *flag.FlagSet, name string, options []assignment) error {
	seen := map[string]bool{}
	for _, o := range options {
		f := fs.Lookup(o.name)
		if f == nil {
			return noOption(name, o.name, optionNames(fs))
		}
		if seen[o.name] {
			return fmt.Errorf("%s: option %q is set twice", name, o.name)
		}
		if o.alone && !isSwitch(f.Value) {
			return fmt.Errorf("%s: option %q needs a value: %s=…", name, o.name, o.name)
		}
		seen[o.name] = true
		if err := fs.Set(o.name, o.value); err != nil {
			return fmt.Errorf("%s: option %q: %q is not %s", name, o.name, o.value, wanted(f.Value))
		}
	}
	return nil
}

func noOption(name, option string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("%s takes no options, got %q", name, option)
	}
	return Unknown(name+" option", option, names)
}

func optionNames(fs *flag.FlagSet) []string {
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// seeList points to the full list; of a policy, to that of all policies.
func seeList(noun string) string {
	plural := noun + "s"
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		plural = stem + "ies"
	}
	return fmt.Sprintf(" (tickmark list %s names them all)", plural)
}
