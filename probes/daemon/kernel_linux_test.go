package daemon

import (
	"context"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
)

// The kernel of this host is read, and what was read is what adjtimex, the other system
// call, has. The limit grows between two readings.
func TestKernelOfThisHost(t *testing.T) {
	r := reading()
	if err := (kernel{}).Ask(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	var second unix.Timex
	if _, err := unix.Adjtimex(&second); err != nil {
		t.Fatal(err)
	}
	c := r.Claims[0]
	for key, want := range map[string]int64{
		"freq": int64(second.Freq), "tick_us": int64(second.Tick), "tai": int64(second.Tai),
		"tolerance": int64(second.Tolerance), "precision_us": int64(second.Precision), "constant": int64(second.Constant),
	} {
		if got, _ := c.Fact(key); got != integer(want) {
			t.Errorf("%s %s, adjtimex has %d", key, got, want)
		}
	}
	bound, ok := c.Bound.Value()
	if ok && (bound.Microseconds() > int64(second.Maxerror) || c.Why != "") {
		t.Errorf("bound %v with why %q, adjtimex has %d µs", bound, c.Why, second.Maxerror)
	}
	if !ok && second.Maxerror < 15_999_000 {
		t.Errorf("no bound, adjtimex has %d µs", second.Maxerror)
	}
	if wantUnsync := second.Status&unix.STA_UNSYNC != 0; wantUnsync != (c.Status == datasets.Unsynchronised) {
		t.Errorf("status %q, adjtimex has %#x", c.Status, second.Status)
	}
}

// TestConstantsAreTheKernels: they are spelt out for systems that lack them.
func TestConstantsAreTheKernels(t *testing.T) {
	for name, pair := range map[string][2]int{
		"STA_PLL": {staPLL, unix.STA_PLL}, "STA_INS": {staIns, unix.STA_INS}, "STA_DEL": {staDel, unix.STA_DEL},
		"STA_UNSYNC": {staUnsync, unix.STA_UNSYNC}, "STA_NANO": {staNano, unix.STA_NANO}, "TIME_ERROR": {timeError, unix.TIME_ERROR},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %#x, x/sys has %#x", name, pair[0], pair[1])
		}
	}
}

// ntptime, of NTPsec, reads the same of the kernel.
func TestKernelAgreesWithNtptime(t *testing.T) {
	tool := netlab.Need(t, "ntptime")
	before := reading()
	check(t, kernel{}.Ask(t.Context(), before))
	out, _ := exec.Command(tool).CombinedOutput() // it fails when the clock is not synchronised
	after := reading()
	check(t, kernel{}.Ask(t.Context(), after))
	theirs := map[string]string{}
	for name, pattern := range map[string]string{
		"maxerror_us": `maximum error (\d+) us`, "esterror_us": `estimated error (\d+) us`, "tai": `TAI offset (\d+)`,
		"=frequency": `frequency (-?[0-9.]+) ppm`, "status": `status (0x[0-9a-f]+)`, "flags": `status 0x[0-9a-f]+ \(([A-Z0-9=,]*)\)`,
		"constant": `time constant (\d+)`, "precision_us": `precision ([0-9.]+) us`, "tolerance": `tolerance (\d+) ppm`,
	} {
		m := regexp.MustCompile(pattern).FindSubmatch(out)
		if m == nil {
			t.Fatalf("ntptime prints no %s: %s", name, out)
		}
		theirs[name] = string(m[1])
	}
	tolerance, err := strconv.Atoi(theirs["tolerance"])
	check(t, err)
	theirs["tolerance"] = strconv.Itoa(tolerance << 16)
	// The rest it does not print, or in another unit.
	except := []string{"=status", "=leap", "=bound", "=offset", "state", "offset", "freq", "tick_us"}
	for _, line := range secondOpinion(words(before.Claims[0]), words(after.Claims[0]), theirs, except...) {
		t.Error("ntptime says otherwise: " + line)
	}
}
