package datasets

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Bin counts the latencies of one interval that lie in [Low, High]: a row of a histogram
// trace. All that is known of one of them is that it lies there.
type Bin struct {
	At     Instant                 // when the interval began
	Length Optional[time.Duration] // of the interval; absent if it is not told
	Low    time.Duration
	High   Optional[time.Duration] // absent: there is no upper limit
	Count  int64
	Extra  string // cells of columns this version does not know, tab-separated
}

// Kind returns Histograms.
func (b *Bin) Kind() Kind { return Histograms }

func (b *Bin) columns() []string { return []string{"at", "length", "low", "high", "count"} }

func (b *Bin) parse(column int, text []byte) error {
	switch column {
	case 0:
		return parseInt(&b.At, text)
	case 1:
		return parseOptional(&b.Length, text)
	case 2:
		return parseInt(&b.Low, text)
	case 3:
		return parseOptional(&b.High, text)
	default:
		return parseInt(&b.Count, text)
	}
}

func (b *Bin) append(dst []byte, column int) []byte {
	switch column {
	case 0:
		return strconv.AppendInt(dst, int64(b.At), 10)
	case 1:
		return appendOptional(dst, b.Length)
	case 2:
		return strconv.AppendInt(dst, int64(b.Low), 10)
	case 3:
		return appendOptional(dst, b.High)
	default:
		return strconv.AppendInt(dst, b.Count, 10)
	}
}

func (b *Bin) check() error {
	length, limited := b.Length.Value()
	high, bounded := b.High.Value()
	switch {
	case tooFar(b.At):
		return far("at", int64(b.At))
	case limited && length < 0:
		return belowZero("length", int64(length))
	case limited && int64(length) > farthest-int64(b.At):
		return far("length", int64(length))
	case b.Low < 0:
		return belowZero("low", int64(b.Low))
	case b.Low > farthest || high > farthest:
		return errors.New("a latency of more than 146 years")
	case bounded && high < b.Low:
		return fmt.Errorf(`high "%d": below low, %d`, high, b.Low)
	case b.Count < 0:
		return belowZero("count", b.Count)
	}
	return nil
}

func (b *Bin) fields() []any {
	return []any{
		whole[Instant]{&b.At},
		perhaps[time.Duration]{&b.Length},
		whole[time.Duration]{&b.Low},
		perhaps[time.Duration]{&b.High},
		whole[int64]{&b.Count},
	}
}

func (b *Bin) extra() *string { return &b.Extra }
func (b *Bin) reset()         { *b = Bin{} }
