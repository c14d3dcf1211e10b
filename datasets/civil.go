package datasets

import "time"

// parseDate reads YYYY-MM-DD as the time since 1970 of its midnight, UTC.
func parseDate(text []byte) (time.Duration, bool) {
	if len(text) != 10 || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	year, ok1 := digits(text[:4])
	month, ok2 := digits(text[5:7])
	day, ok3 := digits(text[8:])
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	return time.Duration(daysSince1970(year, month, day)) * 24 * time.Hour, year >= 1678 && year <= 2261
}

// parseClock reads HH:MM:SS and what decimals follow as the time since midnight. The 60th
// second of a leap second is the first one of the next minute.
func parseClock(text []byte) (time.Duration, bool) {
	if len(text) < 8 || text[2] != ':' || text[5] != ':' {
		return 0, false
	}
	hour, ok1 := digits(text[:2])
	minute, ok2 := digits(text[3:5])
	second, err := parseNanos(text[6:], time.Second)
	if !ok1 || !ok2 || err != nil || hour > 24 || minute > 59 || second < 0 || second >= 61*time.Second {
		return 0, false
	}
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + second, true
}

// mjd1970 is 1970-01-01 in Modified Julian Days.
const mjd1970 = 40587

// parseMJD reads a Modified Julian Day and the second of it as a time since 1970.
func parseMJD(day, second []byte) (time.Duration, bool) {
	var d int64
	if parseInt(&d, day) != nil || d < 0 || d > mjd1970+100_000 {
		return 0, false
	}
	s, err := parseNanos(second, time.Second)
	if err != nil || s < 0 || s >= 86401*time.Second {
		return 0, false
	}
	return time.Duration(d-mjd1970)*24*time.Hour + s, true
}

func digits(text []byte) (n int, ok bool) {
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(text) > 0
}

// daysSince1970 counts in the proleptic Gregorian calendar, with a year that begins in
// March, so that a leap day is its last.
func daysSince1970(year, month, day int) int {
	if month <= 2 {
		year, month = year-1, month+12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 719469
}

func daysIn(year, month int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}
