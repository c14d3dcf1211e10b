package datasets_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// The offset is θ as it stands (chrony.conf(5): positive is a local clock that is slow).
func TestChronyMeasurements(t *testing.T) {
	got := importSample(t, "chrony-measurements", "new.log")
	at := func(s int) datasets.Instant { return datasets.Instant(time.Duration(s) * time.Second) }
	point := func(s int, offset, delay, dispersion time.Duration, extra string) datasets.Row {
		return &datasets.Point{
			At: at(s), Offset: datasets.Some(offset), Delay: datasets.Some(delay), Error: datasets.Some(dispersion), Extra: extra,
		}
	}
	failed := point(64, 15*time.Millisecond, 30*time.Millisecond, 1500, "N\t2\t11000000\t22000000")
	failed.(*datasets.Point).Outcome = datasets.Invalid
	want := imported{
		series: []string{"192.0.2.1", "192.0.2.9"},
		rows: map[string][]datasets.Row{
			"192.0.2.1": {
				point(0, 125*time.Microsecond, 200*time.Microsecond, 1500, "N\t2\t11000000\t22000000"),
				failed,
				point(128, 130*time.Microsecond, 210*time.Microsecond, 1500, "N\t2\t11000000\t22000000"),
			},
			"192.0.2.9": {point(0, -30*time.Microsecond, 912500, 2500, "N\t1\t0\t1000")},
		},
		warnings: []string{"new.log: 1 measurement failed a test of chronyd and is invalid"},
	}
	if diff := cmp.Diff(want, got, cmpImported()); diff != "" {
		t.Error(diff)
	}
}

func FuzzChronyMeasurements(f *testing.F) { fuzzFormat(f, "chrony-measurements") }
