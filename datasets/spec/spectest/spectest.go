// Package spectest holds a [spec.Table] to what every table promises, so that a new
// entry needs no test of its own for its name, its help and its canonical form.
package spectest

import (
	"testing"

	"github.com/tickmark/tickmark/datasets/spec"
)

// Check walks table, whose entries are called noun in errors: names and summaries are
// well formed, options have help and readable defaults, the defaults build, the
// canonical form is a fixed point, and a mistyped name or option is refused with the
// right one.
func Check[T any](t *testing.T, noun string, table spec.Table[T]) {
	t.Helper()
	for _, p := range tableProblems(table) {
		t.Errorf("table of %s entries: %s", noun, p)
	}
	for _, e := range table {
		t.Run(e.Name, func(t *testing.T) {
			for _, p := range entryProblems(noun, table, e) {
				t.Error(p)
			}
		})
	}
}
