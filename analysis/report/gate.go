package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets/spec"
)

// Gate is a limit a user set on a result: COLUMN[ROW] OP VALUE. It describes the
// bad case: where it holds, the gate has failed.
//
//	false_positives_hi[fixed:after=50ms] > 0.1%
//	longest_breach > 0s
type Gate struct {
	Column string
	Row    string // the first cell of the row meant; "" is any row
	Op     string // > >= < <= == !=
	Value  string // as typed; its unit is the column's
}

// ParseGate reads a gate. A row may hold anything, brackets and operators too; it
// ends at the last bracket. An error is a *spec.UsageError.
func ParseGate(text string) (Gate, error) {
	wrong := func(what string) (Gate, error) {
		return Gate{}, &spec.UsageError{Msg: fmt.Sprintf("gate %q: %s; want COLUMN[ROW] OP VALUE, such as longest_breach > 0s", text, what)}
	}
	text = strings.TrimSpace(text)
	end := strings.IndexAny(text, "[ \t<>=!")
	if end < 0 {
		return wrong("has no comparison")
	}
	g := Gate{Column: strings.TrimSpace(text[:end])}
	rest := strings.TrimSpace(text[end:])
	if strings.HasPrefix(rest, "[") {
		last := strings.LastIndexByte(rest, ']')
		if last < 0 {
			return wrong("the bracket is not closed")
		}
		if g.Row = rest[1:last]; g.Row == "" {
			return wrong("the brackets name no row")
		}
		rest = strings.TrimSpace(rest[last+1:])
	}
	g.Op, g.Value = cutOp(rest)
	switch {
	case g.Column == "":
		return wrong("names no column")
	case g.Op == "":
		return wrong("has no comparison (> >= < <= == !=)")
	case g.Value == "":
		return wrong("has no value")
	}
	return g, nil
}

func cutOp(text string) (op, value string) {
	for _, op := range []string{">=", "<=", "==", "!=", ">", "<"} {
		if value, ok := strings.CutPrefix(text, op); ok {
			return op, strings.TrimSpace(value)
		}
	}
	return "", text
}

// String returns the gate as it is typed.
func (g Gate) String() string {
	row := ""
	if g.Row != "" {
		row = "[" + g.Row + "]"
	}
	return g.Column + row + " " + g.Op + " " + g.Value
}

// Check judges t, any of whose rows fails the gate if it names none. It says why a
// gate failed. An absent cell, or a table without rows, cannot be judged and must not
// pass unseen: that has failed too. A column or row that t does not have, or a value
// that cannot be compared with the column, is a *spec.UsageError.
func (g Gate) Check(t *Table) (failed bool, why string, err error) {
	if err := t.check(); err != nil {
		return false, "", err
	}
	column := t.column(g.Column)
	if column < 0 {
		var names []string
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
		return false, "", spec.Unknown("column", g.Column, names)
	}
	rows, err := g.rows(t)
	if err != nil {
		return false, "", err
	}
	if len(rows) == 0 {
		return true, fmt.Sprintf("%s: table %q has no rows", g, t.Name), nil
	}
	if t.neverKnown(column) {
		_, _, err := g.judge(nil, t.Columns[column])
		return err == nil, g.String() + ": is null in every row: not computed from this trace", err
	}
	var reasons []string
	for _, row := range rows {
		holds, is, err := g.judge(row[column], t.Columns[column])
		if err != nil {
			return false, "", err
		}
		if holds {
			reasons = append(reasons, g.where(t, row)+is)
		}
	}
	if reasons == nil {
		return false, "", nil
	}
	return true, g.String() + ": " + strings.Join(reasons, "; "), nil
}

// Fits returns the error that Check would, for a gate that is to be judged later.
func (g Gate) Fits(t *Table) error {
	_, _, err := g.Check(t)
	return err
}

// neverKnown reports whether a column has nothing in any of several rows: more data
// would not help.
func (t *Table) neverKnown(column int) bool {
	return len(t.Rows) > 1 && !slices.ContainsFunc(t.Rows, func(row []any) bool { return !absent(row[column]) })
}

// where names the row of a gate that does not.
func (g Gate) where(t *Table, row []any) string {
	if g.Row != "" || len(t.Rows) == 1 {
		return ""
	}
	return label(row) + " "
}

func label(row []any) string { return bare(row[0]) }

func (g Gate) rows(t *Table) ([][]any, error) {
	if g.Row == "" {
		return t.Rows, nil
	}
	var named [][]any
	var names []string
	for _, row := range t.Rows {
		if names = append(names, label(row)); label(row) == g.Row {
			named = append(named, row)
		}
	}
	if named == nil {
		return nil, spec.Unknown("row", g.Row, names)
	}
	return named, nil
}

// judge compares one cell, and says what it is.
func (g Gate) judge(cell any, c Column) (holds bool, is string, err error) {
	v, ok := number(cell)
	if !ok && !absent(cell) {
		return g.judgeWord(cell)
	}
	limit, err := unit.Parse(g.Value, c.Unit)
	switch {
	case err != nil && (ok || c.Unit != ""): // a column without a unit may be one of words
		return false, "", &spec.UsageError{Msg: fmt.Sprintf("gate %q: %v", g, err)}
	case !ok:
		return true, "is null (not enough data)", nil
	}
	return compare(g.Op, v, limit), "is " + precisely(v, limit, c.Unit), nil
}

// judgeWord compares a cell that is no number; one that is yes or no is also true or
// false.
func (g Gate) judgeWord(cell any) (bool, string, error) {
	is, same := bare(cell), g.Value == bare(cell)
	if _, ok := cell.(bool); ok {
		is = word(cell)
		same = same || g.Value == is
	}
	switch g.Op {
	case "==":
		return same, "is " + is, nil
	case "!=":
		return !same, "is " + is, nil
	}
	return false, "", &spec.UsageError{Msg: fmt.Sprintf("gate %q: %q is no number: compare it with == or !=", g, is)}
}

func compare(op string, v, limit float64) bool {
	switch op {
	case ">":
		return v > limit
	case ">=":
		return v >= limit
	case "<":
		return v < limit
	case "<=":
		return v <= limit
	case "==":
		return v == limit
	}
	return v != limit
}

// precisely writes v, with as many digits as it takes to tell it from the limit.
func precisely(v, limit float64, base string) string {
	p := unit.Choose(base, v)
	shown, border := v*p.Factor, limit*p.Factor
	decimals := unit.Decimals(shown, 3)
	for v != limit && decimals < 15 && unit.Number(shown, decimals) == unit.Number(border, decimals) {
		decimals++
	}
	return p.With(unit.Number(shown, decimals))
}
