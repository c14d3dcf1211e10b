package datasets

import (
	"fmt"
	"time"
)

// Exchange is one round trip with the four stamps of NTP or PTP: a row of an
// exchange trace. Offset, delay and bound are computed on reading, never stored.
type Exchange struct {
	Sample
	T1 Stamp // client transmit, local clock
	T2 Stamp // server receive, remote clock
	T3 Stamp // server transmit, remote clock
	T4 Stamp // client receive, local clock

	Stratum        Optional[int]
	Leap           Optional[int]           // 0 none, 1 insert, 2 delete, 3 unsynchronised
	RootDelay      Optional[time.Duration] //
	RootDispersion Optional[time.Duration] //
	Precision      Optional[int]           // of the server's clock, log2 seconds
	Reference      string                  // reference id, or the kiss code at stratum 0
	Why            string                  // why the outcome is invalid, in words; else empty

	// What is to be taken off T2−T1 and T4−T3: in PTP the time a packet spent in
	// transparent clocks on its way there and back (IEEE 1588 §9.5); in NTP, negative,
	// what moves T4 from the packet's start, where hardware stamps it, to its end.
	CorrectionOut, CorrectionBack Optional[time.Duration]
	// How far the timescale of T2 and T3 is ahead of UTC: 37 s for one that counts TAI.
	// Absent is none, or none that could be relied upon.
	UTCOffset Optional[time.Duration]
}

// Kind returns Exchanges.
func (e *Exchange) Kind() Kind { return Exchanges }

// Offset returns θ = ((T2−T1)+(T3−T4))/2, RFC 5905: server minus client, positive
// when the local clock is slow, with T2 and T3 brought to UTC and the corrections
// taken off; and false unless all four stamps are there.
func (e *Exchange) Offset() (time.Duration, bool) {
	ahead := valueOr0(e.UTCOffset)
	out, ok1 := e.T2.sub(e.T1)
	back, ok2 := e.T3.sub(e.T4)
	out = saturatingSub(int64(out), int64(ahead+valueOr0(e.CorrectionOut)))
	back = saturatingSub(int64(back), int64(ahead-valueOr0(e.CorrectionBack)))
	// The halves are added so that clocks centuries apart cannot overflow.
	return out/2 + back/2 + (out%2+back%2)/2, ok1 && ok2
}

// Delay returns δ = (T4−T1)−(T3−T2) without the corrections, unclamped: a negative
// one proves that a clock stepped or a stamp lies. It is false unless all four stamps
// are there.
func (e *Exchange) Delay() (time.Duration, bool) {
	whole, ok1 := e.T4.sub(e.T1)
	server, ok2 := e.T3.sub(e.T2)
	corrected := valueOr0(e.CorrectionOut) + valueOr0(e.CorrectionBack)
	return saturatingSub(int64(saturatingSub(int64(whole), int64(server))), int64(corrected)), ok1 && ok2
}

func valueOr0(d Optional[time.Duration]) time.Duration {
	v, _ := d.Value()
	return v
}

// WallElapsed returns T4−T1 by the local wall clock, to be held against the
// monotonic Elapsed: if the two disagree the wall clock stepped in between. In PTP,
// where the Sync may come before the Delay_Req leaves, it may be negative.
func (e *Exchange) WallElapsed() (time.Duration, bool) { return e.T4.sub(e.T1) }

func (e *Exchange) columns() []string {
	return append(e.Sample.columns(), "t1", "t2", "t3", "t4", "stratum", "leap", "root_delay", "root_dispersion",
		"precision", "reference", "why", "correction_out", "correction_back", "utc_offset")
}

func (e *Exchange) parse(column int, text []byte) error { //nolint:cyclop // one flat case a column
	switch column - sampleColumns {
	case 0:
		return parseStamp(&e.T1, Local, text)
	case 1:
		return parseStamp(&e.T2, Remote, text)
	case 2:
		return parseStamp(&e.T3, Remote, text)
	case 3:
		return parseStamp(&e.T4, Local, text)
	case 4:
		return parseOptional(&e.Stratum, text)
	case 5:
		return parseOptional(&e.Leap, text)
	case 6:
		return parseOptional(&e.RootDelay, text)
	case 7:
		return parseOptional(&e.RootDispersion, text)
	case 8:
		return parseOptional(&e.Precision, text)
	case 9:
		return parseText(&e.Reference, text)
	case 10:
		return parseText(&e.Why, text)
	case 11:
		return parseOptional(&e.CorrectionOut, text)
	case 12:
		return parseOptional(&e.CorrectionBack, text)
	case 13:
		return parseOptional(&e.UTCOffset, text)
	}
	return e.Sample.parse(column, text)
}

func (e *Exchange) append(dst []byte, column int) []byte { //nolint:cyclop // one flat case a column
	switch column - sampleColumns {
	case 0:
		return appendStamp(dst, e.T1)
	case 1:
		return appendStamp(dst, e.T2)
	case 2:
		return appendStamp(dst, e.T3)
	case 3:
		return appendStamp(dst, e.T4)
	case 4:
		return appendOptional(dst, e.Stratum)
	case 5:
		return appendOptional(dst, e.Leap)
	case 6:
		return appendOptional(dst, e.RootDelay)
	case 7:
		return appendOptional(dst, e.RootDispersion)
	case 8:
		return appendOptional(dst, e.Precision)
	case 9:
		return appendText(dst, e.Reference)
	case 10:
		return appendText(dst, e.Why)
	case 11:
		return appendOptional(dst, e.CorrectionOut)
	case 12:
		return appendOptional(dst, e.CorrectionBack)
	case 13:
		return appendOptional(dst, e.UTCOffset)
	}
	return e.Sample.append(dst, column)
}

// check refuses corrections that no network gives: with them the sums above could
// leave 64 bits.
func (e *Exchange) check() error {
	for _, c := range []struct {
		column string
		d      Optional[time.Duration]
	}{{"correction_out", e.CorrectionOut}, {"correction_back", e.CorrectionBack}, {"utc_offset", e.UTCOffset}} {
		if d, ok := c.d.Value(); ok && (d > farthest/4 || d < -farthest/4) {
			return fmt.Errorf(`%s "%d": more than 36 years`, c.column, d)
		}
	}
	return e.Sample.check()
}

func (e *Exchange) fields() []any {
	return append(e.Sample.fields(),
		stamped{&e.T1, Local}, stamped{&e.T2, Remote}, stamped{&e.T3, Remote}, stamped{&e.T4, Local},
		perhaps[int]{&e.Stratum}, perhaps[int]{&e.Leap}, perhaps[time.Duration]{&e.RootDelay}, perhaps[time.Duration]{&e.RootDispersion},
		perhaps[int]{&e.Precision}, textOf[string]{&e.Reference}, textOf[string]{&e.Why},
		perhaps[time.Duration]{&e.CorrectionOut}, perhaps[time.Duration]{&e.CorrectionBack}, perhaps[time.Duration]{&e.UTCOffset})
}

func (e *Exchange) reset() { *e = Exchange{} }
