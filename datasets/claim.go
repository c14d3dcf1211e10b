package datasets

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// ClaimStatus says in what state a time daemon says it is. Readers must take any word.
type ClaimStatus string

// What a daemon says of itself. None of it is believed here: it is what an audit
// holds against measurements.
const (
	Synchronised   ClaimStatus = "synchronised"   // follows a source it trusts
	Unsynchronised ClaimStatus = "unsynchronised" // says that its time is not to be relied upon
	FreeRunning    ClaimStatus = "free-running"   // follows no source, or itself: the clock drifts as it will
	Holdover       ClaimStatus = "holdover"       // had a source and keeps its rate without it
	Stale          ClaimStatus = "stale"          // says synchronised, and has not heard its source for too long
	Disrupted      ClaimStatus = "disrupted"      // the machine was moved or stopped: nothing is known of the clock
	Unreachable    ClaimStatus = "unreachable"    // did not answer, or its source does not answer it
)

// What a daemon says of one of the sources it listens to, beside the words above.
const (
	Selected    ClaimStatus = "selected"    // the time of this source is used, alone or with others
	Candidate   ClaimStatus = "candidate"   // good, and not used now
	Falseticker ClaimStatus = "falseticker" // disagrees with the majority
	Rejected    ClaimStatus = "rejected"    // left out for another reason, which its facts have
)

// PPB is a rate in parts per billion: nanoseconds per second.
type PPB int64

// Claim is what a time daemon, or the kernel, says of this host's clock at one
// moment: a row of a claim trace. Signs follow θ, whatever the daemon's own are:
// positive is a local clock that is slow, or loses. The facts alone are as the daemon
// wrote them.
type Claim struct {
	At     Instant     // when its answer had come
	Wall   Stamp       // the same by the clock it speaks of
	Source string      // who says it: chronyd; "chronyd 192.0.2.1" of one of its sources
	Status ClaimStatus //

	Offset Optional[time.Duration] // θ as it believes it to be
	// Bound is the limit of |true θ| that it vouches for, or that follows by its own
	// documented formula from what it says; absent if it vouches for none.
	Bound          Optional[time.Duration]
	RootDelay      Optional[time.Duration] // round trip to the reference clock
	RootDispersion Optional[time.Duration] // error gathered on the way from there
	Frequency      Optional[PPB]           // rate error of the clock left to itself
	Skew           Optional[PPB]           // how far Frequency may be off, as it estimates
	Stratum        Optional[int]
	Leap           Optional[int]           // 0 none, 1 insert, 2 delete, 3 unsynchronised
	Reference      string                  // what it follows: reference id or grandmaster
	Age            Optional[time.Duration] // since it last heard its source
	Facts          string                  // everything else, see Fact
	Why            string                  // why not to believe it, in words; else empty
	Extra          string                  // cells of columns this version does not know, tab-separated
}

// Kind returns Claims.
func (c *Claim) Kind() Kind { return Claims }

func (c *Claim) columns() []string {
	return []string{
		"at", "wall", "source", "status", "offset", "bound", "root_delay", "root_dispersion", "frequency", "skew",
		"stratum", "leap", "reference", "age", "facts", "why",
	}
}

func (c *Claim) parse(column int, text []byte) error { //nolint:cyclop // one flat case a column
	switch column {
	case 0:
		return parseInt(&c.At, text)
	case 1:
		return parseStamp(&c.Wall, Local, text)
	case 2:
		return parseText(&c.Source, text)
	case 3:
		return parseText((*string)(&c.Status), text)
	case 4:
		return parseOptional(&c.Offset, text)
	case 5:
		return parseOptional(&c.Bound, text)
	case 6:
		return parseOptional(&c.RootDelay, text)
	case 7:
		return parseOptional(&c.RootDispersion, text)
	case 8:
		return parseOptional(&c.Frequency, text)
	case 9:
		return parseOptional(&c.Skew, text)
	case 10:
		return parseOptional(&c.Stratum, text)
	case 11:
		return parseOptional(&c.Leap, text)
	case 12:
		return parseText(&c.Reference, text)
	case 13:
		return parseOptional(&c.Age, text)
	case 14:
		return parseText(&c.Facts, text)
	default:
		return parseText(&c.Why, text)
	}
}

func (c *Claim) append(dst []byte, column int) []byte { //nolint:cyclop // one flat case a column
	switch column {
	case 0:
		return strconv.AppendInt(dst, int64(c.At), 10)
	case 1:
		return appendStamp(dst, c.Wall)
	case 2:
		return appendText(dst, c.Source)
	case 3:
		return appendText(dst, string(c.Status))
	case 4:
		return appendOptional(dst, c.Offset)
	case 5:
		return appendOptional(dst, c.Bound)
	case 6:
		return appendOptional(dst, c.RootDelay)
	case 7:
		return appendOptional(dst, c.RootDispersion)
	case 8:
		return appendOptional(dst, c.Frequency)
	case 9:
		return appendOptional(dst, c.Skew)
	case 10:
		return appendOptional(dst, c.Stratum)
	case 11:
		return appendOptional(dst, c.Leap)
	case 12:
		return appendText(dst, c.Reference)
	case 13:
		return appendOptional(dst, c.Age)
	case 14:
		return appendText(dst, c.Facts)
	default:
		return appendText(dst, c.Why)
	}
}

// check refuses a claim of nobody, and limits that no claim can have.
func (c *Claim) check() error {
	switch {
	case tooFar(c.At):
		return far("at", int64(c.At))
	case c.Source == "":
		return errors.New(`source "-": a claim is somebody's`)
	case c.Status == "":
		return errors.New(`status "-": a claim has one`)
	}
	for _, d := range []struct {
		column string
		value  Optional[time.Duration]
		signed bool
	}{
		{"offset", c.Offset, true},
		{"bound", c.Bound, false},
		{"root_delay", c.RootDelay, true}, // NTP's may be negative, RFC 1305 §3.2.1
		{"root_dispersion", c.RootDispersion, false},
		{"age", c.Age, false},
	} {
		switch v, ok := d.value.Value(); {
		case ok && !d.signed && v < 0:
			return belowZero(d.column, int64(v))
		case ok && (v > farthest || v < -farthest):
			return fmt.Errorf(`%s "%d": more than 146 years`, d.column, v)
		}
	}
	return nil
}

func (c *Claim) fields() []any {
	return []any{
		whole[Instant]{&c.At},
		stamped{&c.Wall, Local},
		textOf[string]{&c.Source},
		textOf[ClaimStatus]{&c.Status},
		perhaps[time.Duration]{&c.Offset},
		perhaps[time.Duration]{&c.Bound},
		perhaps[time.Duration]{&c.RootDelay},
		perhaps[time.Duration]{&c.RootDispersion},
		perhaps[PPB]{&c.Frequency},
		perhaps[PPB]{&c.Skew},
		perhaps[int]{&c.Stratum},
		perhaps[int]{&c.Leap},
		textOf[string]{&c.Reference},
		perhaps[time.Duration]{&c.Age},
		textOf[string]{&c.Facts},
		textOf[string]{&c.Why},
	}
}

func (c *Claim) extra() *string { return &c.Extra }
func (c *Claim) reset()         { *c = Claim{} }
