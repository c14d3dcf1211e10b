package datasets

import "time"

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
}

// Kind returns Exchanges.
func (e *Exchange) Kind() Kind { return Exchanges }

// Offset returns θ = ((T2−T1)+(T3−T4))/2, RFC 5905: server minus client, positive
// when the local clock is slow; and false unless all four stamps are there.
func (e *Exchange) Offset() (time.Duration, bool) {
	out, ok1 := e.T2.sub(e.T1)
	back, ok2 := e.T3.sub(e.T4)
	// The halves are added so that clocks centuries apart cannot overflow.
	return out/2 + back/2 + (out%2+back%2)/2, ok1 && ok2
}

// Delay returns δ = (T4−T1)−(T3−T2), unclamped: a negative one proves that a clock
// stepped or a stamp lies. It is false unless all four stamps are there.
func (e *Exchange) Delay() (time.Duration, bool) {
	whole, ok1 := e.T4.sub(e.T1)
	server, ok2 := e.T3.sub(e.T2)
	return saturatingSub(int64(whole), int64(server)), ok1 && ok2
}

// WallElapsed returns T4−T1 by the local wall clock, to be held against the
// monotonic Elapsed: if the two disagree the wall clock stepped in between.
func (e *Exchange) WallElapsed() (time.Duration, bool) { return e.T4.sub(e.T1) }

func (e *Exchange) columns() []string {
	return append(e.Sample.columns(), "t1", "t2", "t3", "t4", "stratum", "leap", "root_delay", "root_dispersion",
		"precision", "reference", "why")
}

func (e *Exchange) parse(column int, text []byte) error {
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
	}
	return e.Sample.parse(column, text)
}

func (e *Exchange) append(dst []byte, column int) []byte {
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
	}
	return e.Sample.append(dst, column)
}

func (e *Exchange) reset() { *e = Exchange{} }
