package datasets

import (
	"fmt"
	"testing"
	"time"
)

// The standard library counts the same days, over 200 years.
func TestCivil(t *testing.T) {
	for day := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2107; day = day.AddDate(0, 0, 1) {
		text := day.Format(time.DateOnly)
		got, ok := parseDate([]byte(text))
		if want := time.Duration(day.UnixNano()); got != want || !ok {
			t.Fatalf("%s: %v, want %v", text, got, want)
		}
		mjd := fmt.Sprint(day.Unix()/86400 + 40587) // MJD 40587 is 1970-01-01
		if got, ok := parseMJD([]byte(mjd), []byte("0.5")); day.Year() >= 1970 && (!ok || got != time.Duration(day.UnixNano())+500*time.Millisecond) {
			t.Fatalf("MJD %s: %v", mjd, got)
		}
	}
	for _, text := range []string{"2023-02-29", "2100-02-29", "2023-13-01", "2023-00-01", "2023-01-00", "2023-1-01", "2023/01/01", "1600-01-01", "2300-01-01", ""} {
		if d, ok := parseDate([]byte(text)); ok {
			t.Errorf("%q = %v", text, d)
		}
	}
	if d, ok := parseClock([]byte("23:59:60.25")); !ok || d != 24*time.Hour+250*time.Millisecond {
		t.Error("leap second:", d, ok)
	}
	for _, text := range []string{"25:00:00", "10:60:00", "10:00:61", "10:00", "1:00:00", "10:00:0x", "10-00-00"} {
		if d, ok := parseClock([]byte(text)); ok {
			t.Errorf("%q = %v", text, d)
		}
	}
}
