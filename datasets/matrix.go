package datasets

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Matrices of round-trip times: as many lines as columns, separated by tabs, places known
// by their number; or nested JSON objects, from → to → value. Neither says its unit.
func bindMatrix(fs *flag.FlagSet) func() (Format, error) {
	unit := fs.String("unit", "ms", "`unit` of the entries: s, ms, us or ns")
	return func() (Format, error) {
		scale, err := parseScale("unit", *unit)
		return foreign{isMatrix, byLine(func() dialect { return &matrix{unit: scale, name: *unit} })}, err
	}
}

type matrix struct {
	unit    time.Duration
	name    string
	row     int
	columns int
}

// leastPlaces is how many columns a table of numbers must have to be recognised as one.
const leastPlaces = 8

func isMatrix(head []byte) bool {
	line, _, whole := bytes.Cut(head, []byte("\n"))
	cells := bytes.Split(bytes.Trim(line, " \r\t"), []byte("\t"))
	if whole {
		return len(cells) >= leastPlaces && allNumbers(cells...)
	}
	return len(cells) >= leastPlaces && allNumbers(cells[:len(cells)-1]...)
}

func (m *matrix) line(text []byte, out *rows) error {
	text = bytes.Trim(text, " \t")
	if len(text) == 0 {
		return nil
	}
	cells := bytes.Split(text, []byte("\t"))
	if m.columns == 0 {
		m.columns = len(cells)
	}
	m.row++
	if len(cells) < 2 {
		return fmt.Errorf("%s: want columns separated by tabs", clip(text))
	}
	if len(cells) != m.columns {
		return fmt.Errorf("%d columns where the first line has %d", len(cells), m.columns)
	}
	s := matrixSeries(m.name, out)
	from := strconv.Itoa(m.row)
	for i, cell := range cells {
		d, err := parseNanos(bytes.TrimSpace(cell), m.unit)
		if err != nil {
			return fmt.Errorf("column %d, %w", i+1, err)
		}
		e := out.entry(s)
		e.From, e.To, e.Elapsed = from, strconv.Itoa(i+1), Some(d)
	}
	return nil
}

func (m *matrix) end(out *rows) error {
	if m.row != m.columns {
		out.say("%d lines of %d columns: a matrix of round trips has as many of both", m.row, m.columns)
	}
	return nil
}

func matrixSeries(unit string, out *rows) *Series {
	s, first := out.of(nil, Matrices, "matrix of round trips")
	if first {
		out.say("the file does not say what its entries are in: they are taken as %s (--format NAME:unit=…)", unit)
	}
	return s
}

func bindMatrixJSON(fs *flag.FlagSet) func() (Format, error) {
	unit := fs.String("unit", "ms", "`unit` of the entries: s, ms, us or ns")
	return func() (Format, error) {
		scale, err := parseScale("unit", *unit)
		if err != nil {
			return nil, err
		}
		return bindJSON(isMatrixJSON, func() jsonReader { return &matrixJSON{unit: scale, name: *unit} })(fs)()
	}
}

// matrixJSON keeps all of a document until it is known to be a matrix: that whoever is
// reached from a place is a place.
type matrixJSON struct {
	unit    time.Duration
	name    string
	entries []Entry
	places  map[string]bool
	broken  bool // a part of it could not be read
}

// mostEntries is how many entries are kept: those between 2048 places.
const mostEntries = 1 << 22

// isMatrixJSON reports whether the document begins {"place": {"place": number, …}, "place",
// and the second place is reached from the first one, or the first from itself.
func isMatrixJSON(head []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(head))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	from, err := dec.Token()
	if t, open := dec.Token(); err != nil || open != nil || t != json.Delim('{') {
		return false
	}
	reached, numbers := reachedFrom(dec)
	if !numbers || len(reached) < 2 {
		return false
	}
	if _, err := dec.Token(); err != nil {
		return reached[from]
	}
	next, _ := dec.Token()
	return reached[from] || reached[next]
}

// reachedFrom reads the names of an object, as far as the head has it, and reports whether
// all of its values are numbers or null.
func reachedFrom(dec *json.Decoder) (names map[json.Token]bool, numbers bool) {
	names = map[json.Token]bool{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break // the head ends here
		}
		value, err := dec.Token()
		if _, number := value.(json.Number); err == nil && !number && value != nil {
			return nil, false
		}
		names[name] = true
	}
	return names, true
}

func (m *matrixJSON) wants(path []string) func(json.RawMessage, *rows) error {
	if !at(path, "*") {
		return nil
	}
	from := path[0]
	return func(raw json.RawMessage, _ *rows) error {
		m.broken = true // unless all of it is good
		var to map[string]decimalOf
		if err := json.Unmarshal(raw, &to); err != nil {
			return fmt.Errorf("%s: want the round trips from there to other places", from)
		}
		if len(m.entries)+len(to) > mostEntries {
			return fmt.Errorf("more than %d entries", mostEntries)
		}
		if m.places == nil {
			m.places = map[string]bool{}
		}
		m.places[from] = true
		for _, name := range slices.Sorted(maps.Keys(to)) {
			e := Entry{From: from, To: name}
			if to[name] != "" {
				v, err := to[name].span(m.unit)
				if err != nil {
					return fmt.Errorf("%s to %s: %w", from, name, err)
				}
				e.Elapsed = Some(v)
			}
			m.entries = append(m.entries, e)
		}
		m.broken = false
		return nil
	}
}

func (m *matrixJSON) end(out *rows) error {
	if m.broken {
		return nil
	}
	for _, e := range m.entries {
		if !m.places[e.To] {
			return fmt.Errorf("%s is reached from %s and is no place of its own: this is no matrix of round trips", e.To, e.From)
		}
	}
	for _, e := range m.entries {
		*out.entry(matrixSeries(m.name, out)) = e
	}
	return nil
}
