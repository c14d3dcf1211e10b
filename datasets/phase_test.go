package datasets_test

import (
	"math"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

func TestPhase(t *testing.T) {
	rows := importSample(t, "phase", "phase.txt").rows[""]
	p := rows[1].(*datasets.Point)
	if math.Abs(optional(t, p.Value)+2.25e-9) > 1e-24 || p.At != datasets.Instant(500*time.Millisecond) || rows[2].(*datasets.Point).Outcome != datasets.Invalid {
		t.Errorf("%+v", p)
	}
	f := importSample(t, "phase", "frequency.txt").rows[""][0].(*datasets.Point)
	if v := optional(t, f.Value); math.Abs(v-5e-8) > 1e-15 {
		t.Error(v)
	}
}

func forced(t *testing.T, spec string) datasets.Format {
	t.Helper()
	f, _, err := datasets.Formats().Parse("format", spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What numbers are, nobody can tell from them: these files have to be described.
func TestCorpusPhase(t *testing.T) {
	corpus(t, "MANIFEST.tsv")
	for path, c := range map[string]struct {
		spec string
		n    int
	}{
		"allan/phasedat/PHASE.DAT":                {"phase:series=phase,tau0=1s", 1001},
		"allan/gps/gps_1pps_phase_data.txt.gz":    {"phase:series=phase,tau0=1s", 241218},
		"allan/pink-frequency/pink_frequency.txt": {"phase:series=frequency,tau0=42s", -1},
		"allan/ocxo/ocxo_frequency.txt":           {"phase:series=frequency,tau0=1s,nominal=1e7", -1},
		"allan/gradev/y.dat":                      {"phase:series=frequency,tau0=1s", -1},
	} {
		t.Run(path, func(t *testing.T) {
			text := []byte(corpus(t, path))
			if _, err := importAll(path, text, nil); err == nil {
				t.Error("recognised")
			}
			all, err := importAll(path, text, forced(t, c.spec))
			if err != nil {
				t.Fatal(err)
			}
			if n := count(all); n != c.n && c.n > 0 || n < 100 {
				t.Errorf("%d values, want %d; %v", n, c.n, all.warnings)
			}
		})
	}
	t.Run("allan/phasedat/phase_dat_adev.txt", func(t *testing.T) {
		if _, err := importAll("adev", []byte(corpus(t, "allan/phasedat/phase_dat_adev.txt")), nil); err == nil {
			t.Error("results of Stable32 are no data")
		} else {
			oneLine(t, err)
		}
	})
}

func FuzzPhase(f *testing.F) { fuzzFormat(f, "phase") }
