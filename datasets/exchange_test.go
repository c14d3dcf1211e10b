package datasets_test

import (
	"math"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

func exchange(t1, t2, t3, t4 int64) *datasets.Exchange {
	return &datasets.Exchange{
		T1: datasets.NewStamp(t1, datasets.Local, datasets.User), T2: datasets.NewStamp(t2, datasets.Remote, datasets.User),
		T3: datasets.NewStamp(t3, datasets.Remote, datasets.User), T4: datasets.NewStamp(t4, datasets.Local, datasets.User),
	}
}

// The four-stamp answers of beevik/ntp's ntp_test.go, in ms there and ns here.
func TestOffsetAndDelay(t *testing.T) {
	for _, c := range []struct{ t1, t2, t3, t4, offset, delay int64 }{
		{0, 10, 10, 10, 5, 10},
		{0, 1, 1, 10, -4, 10},
		{78, 38, 38, 94, -48, 16},
		{0, 25, 25, 1, 24, 1}, // 24.5 cut towards zero
	} {
		e := exchange(c.t1, c.t2, c.t3, c.t4)
		offset, _ := e.Offset()
		delay, _ := e.Delay()
		if offset != time.Duration(c.offset) || delay != time.Duration(c.delay) {
			t.Errorf("%+v: offset %d, delay %d", c, offset, delay)
		}
	}
}

// IEEE 1588-2019 §11.3: the mean path delay is ((t2−t1−cSync)+(t4−t3−cResp))/2, and
// what the slave is ahead is t2−t1−cSync less that. The Sync leaves 200 before it
// arrives and the Delay_Req 400, of which the network kept them 50 and 120.
func TestCorrectionsAndTimescale(t *testing.T) {
	const tai = 37 * time.Second
	sync, request := int64(1000), int64(5000)
	e := exchange(request, request+400+int64(tai), sync+int64(tai), sync+200)
	e.CorrectionBack, e.CorrectionOut = datasets.Some(50*time.Nanosecond), datasets.Some(120*time.Nanosecond)
	e.UTCOffset = datasets.Some(tai)
	offset, _ := e.Offset()
	delay, _ := e.Delay()
	if offset != (400-120-(200-50))/2 || delay != 200-50+400-120 {
		t.Errorf("offset %d, delay %d", offset, delay)
	}
	e.UTCOffset = datasets.Optional[time.Duration]{}
	if offset, _ := e.Offset(); offset != tai+65 {
		t.Errorf("offset %v without the timescale's offset", offset)
	}
}

// Clocks centuries apart saturate, whatever the network adds.
func TestOffsetSaturates(t *testing.T) {
	e := exchange(math.MinInt64, math.MaxInt64, math.MaxInt64, math.MinInt64)
	e.CorrectionOut, e.UTCOffset = datasets.Some(-time.Hour), datasets.Some(-time.Hour)
	if offset, ok := e.Offset(); !ok || offset < math.MaxInt64-time.Duration(time.Hour) {
		t.Errorf("offset %d", offset)
	}
}
