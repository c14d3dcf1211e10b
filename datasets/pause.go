package datasets

import (
	"strconv"
	"time"
)

// Pause is a time in which a process, a CPU or a whole machine was not run: a row of a
// pause trace. In that of the timer probe it is a wake that came late.
type Pause struct {
	At     Instant       // when we should have woken
	Length time.Duration // how much later than asked we woke
	Cause  string        // gc, scheduler, …, the collection of a JVM, the timer that was late; empty when unknown
	Extra  string        // cells of columns this version does not know, tab-separated
}

// Kind returns Pauses.
func (p *Pause) Kind() Kind { return Pauses }

func (p *Pause) columns() []string { return []string{"at", "length", "cause"} }

func (p *Pause) parse(column int, text []byte) error {
	switch column {
	case 0:
		return parseInt(&p.At, text)
	case 1:
		return parseInt(&p.Length, text)
	default:
		return parseText(&p.Cause, text)
	}
}

func (p *Pause) append(dst []byte, column int) []byte {
	switch column {
	case 0:
		return strconv.AppendInt(dst, int64(p.At), 10)
	case 1:
		return strconv.AppendInt(dst, int64(p.Length), 10)
	default:
		return appendText(dst, p.Cause)
	}
}

func (p *Pause) fields() []any {
	return []any{
		whole[Instant]{&p.At}, whole[time.Duration]{&p.Length}, textOf[string]{&p.Cause},
	}
}

func (p *Pause) extra() *string { return &p.Extra }
func (p *Pause) reset()         { *p = Pause{} }
