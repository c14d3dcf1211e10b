package doctor

import (
	"iter"
	"strings"
)

// configOf returns the configuration of a running daemon: the file that its arguments
// name, else the first of the usual ones that is there. A relative path cannot be
// resolved from outside.
func (v *Visit) configOf(p process, takeValue string, keys []string, usual ...string) string {
	o := options(doubleDashed(p.args, keys), takeValue)
	for _, key := range keys {
		if given, ok := o[key]; ok {
			usual = []string{strings.TrimPrefix(given[0], "/")}
		}
	}
	for _, path := range usual {
		if text, ok := v.text(path); ok {
			return text
		}
	}
	return ""
}

// doubleDashed makes --config of -config, which programs in Go take for the same.
func doubleDashed(args, keys []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = arg
		for _, key := range keys {
			if len(key) > 1 && strings.HasPrefix(arg, "-"+key) {
				out[i] = "-" + arg
			}
		}
	}
	return out
}

// lines returns the words of each line that has any; comments are left out.
func lines(text string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, "#")
			words := strings.Fields(line)
			if len(words) == 0 || strings.ContainsAny(words[0][:1], "!;%") { // chrony.conf(5)
				continue
			}
			if !yield(words) {
				return
			}
		}
	}
}
