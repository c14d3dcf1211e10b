package datasets

// Kind says what the rows of a trace are.
type Kind string

// The kinds this version has rows for. A verb refuses the others by name.
const (
	RTT        Kind = "rtt"
	Exchanges  Kind = "exchange"
	Pauses     Kind = "pause"
	Clocks     Kind = "clock"
	Claims     Kind = "claim"
	SeriesKind Kind = "series"
	Histograms Kind = "histogram"
	Matrices   Kind = "matrix"
)

// Row is one line of a trace. The pointer types of this package implement it.
type Row interface {
	Kind() Kind
	// columns names the cells, in the order in which they are written.
	columns() []string
	// parse sets the value of the column-th of columns from text; "-" is absent.
	parse(column int, text []byte) error
	// check says why the cells that were parsed cannot be of one row.
	check() error
	// append writes the column-th value behind dst.
	append(dst []byte, column int) []byte
	// fields are the values of columns by their types: see field.go.
	fields() []any
	// extra is where cells of unknown columns go.
	extra() *string
	// reset makes the row empty again.
	reset()
}

// NewRow returns an empty row of a kind, and false for a kind without rows here.
func NewRow(kind Kind) (Row, bool) {
	for _, r := range []Row{&Sample{}, &Exchange{}, &Pause{}, &ClockReading{}, &Claim{}, &Point{}, &Bin{}, &Entry{}} {
		if r.Kind() == kind {
			return r, true
		}
	}
	return nil, false
}

// setRow makes dst what src is. They must be of one type, or dst a Sample and src an
// Exchange.
func setRow(dst, src Row) bool {
	switch d := dst.(type) {
	case *Sample:
		switch s := src.(type) {
		case *Sample:
			*d = *s
			return true
		case *Exchange:
			*d = s.Sample
			return true
		}
		return false
	case *Exchange:
		return assign(d, src)
	case *Pause:
		return assign(d, src)
	case *ClockReading:
		return assign(d, src)
	case *Claim:
		return assign(d, src)
	case *Point:
		return assign(d, src)
	case *Bin:
		return assign(d, src)
	case *Entry:
		return assign(d, src)
	}
	return false
}

func assign[T any](dst *T, src Row) bool {
	s, ok := any(src).(*T)
	if ok {
		*dst = *s
	}
	return ok
}
