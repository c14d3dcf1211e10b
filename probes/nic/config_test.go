package nic

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// driver is the settings of one interface, as a driver keeps them.
type driver struct {
	now     Config
	widens  Filter // what it makes of a filter, if not RXNone
	refuses error
	writes  []Config
}

func (d *driver) read(string) (Config, error) { return d.now, d.refuses }

func (d *driver) write(_ string, c Config) (Config, error) {
	d.writes = append(d.writes, c)
	if d.widens != RXNone && c.RX != RXNone {
		c.RX = d.widens
	}
	d.now = c
	return c, nil
}

var ptp = Config{TX: TXOn, RX: RXPTPv2Event}

func TestConfigureIsUndone(t *testing.T) {
	for _, test := range []struct {
		name   string
		before Config
		widens Filter
		after  Config
		writes int
	}{
		{"switched on", Config{}, RXNone, ptp, 1},
		{"the driver widens the filter", Config{}, RXAll, Config{TX: TXOn, RX: RXAll}, 1},
		{"the driver says some", Config{}, RXSome, Config{TX: TXOn, RX: RXSome}, 1},
		{"a narrower one of another is widened", Config{TX: TXOn, RX: RXPTPv2L4Event}, RXNone, ptp, 1},
		{"what serves already is left alone", Config{TX: TXOn, RX: RXAll}, RXNone, Config{TX: TXOn, RX: RXAll}, 0},
		{"one-step stays one-step", Config{TX: TXOneStepSync, RX: RXPTPv2Event}, RXNone, Config{TX: TXOneStepSync, RX: RXPTPv2Event}, 0},
		{"flags are kept", Config{Flags: 1}, RXNone, Config{TX: TXOn, RX: RXPTPv2Event, Flags: 1}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := &driver{now: test.before, widens: test.widens}
			restore, err := configure(d, "eth0", ptp)
			check(t, err)
			if d.now != test.after || len(d.writes) != test.writes {
				t.Errorf("%v after %d writes, want %v after %d", d.now, len(d.writes), test.after, test.writes)
			}
			check(t, restore())
			check(t, restore()) // twice does no harm
			if d.now != test.before {
				t.Errorf("restored to %v, want %v", d.now, test.before)
			}
			if test.writes == 0 && len(d.writes) > 0 {
				t.Errorf("%d writes where nothing had to change", len(d.writes))
			}
		})
	}
}

func TestConfigureRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		d    *driver
		want string
	}{
		{"what would end another's stamps", &driver{now: Config{TX: TXOn, RX: RXPTPv1L4Event}}, "would end for whoever uses them"},
		{"what it cannot read", &driver{refuses: errors.ErrUnsupported}, "could not be restored"},
		{"a filter that does not serve", &driver{widens: RXPTPv2L2Sync}, "asked for tx on, rx ptpv2-event, got tx on, rx ptpv2-l2-sync"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := test.d.now
			restore, err := configure(test.d, "eth0", ptp)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			check(t, restore())
			if test.d.now != before {
				t.Errorf("left at %v, was %v", test.d.now, before)
			}
		})
	}
}

// TestRestoreLeavesWhatAnotherSet: a daemon that took the interface over meanwhile
// keeps it.
func TestRestoreLeavesWhatAnotherSet(t *testing.T) {
	d := &driver{}
	restore, err := configure(d, "eth0", ptp)
	check(t, err)
	theirs := Config{TX: TXOn, RX: RXAll}
	d.now = theirs
	if err := restore(); err == nil || !strings.Contains(err.Error(), "by another program") {
		t.Errorf("error %v, want one that says who has it", err)
	}
	if d.now != theirs || slices.Contains(d.writes, Config{}) {
		t.Errorf("%v, want %v left alone", d.now, theirs)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Several flows of one program share a setting: the last of them puts it back, in
// whatever order they end, and each may say so twice.
func TestConfigureIsShared(t *testing.T) {
	d := &driver{}
	s := &sharing{of: map[string]*users{}}
	first, err := s.configure(d, "eth0", ptp)
	check(t, err)
	second, err := s.configure(d, "eth0", ptp)
	check(t, err)
	check(t, first())
	check(t, first())
	if d.now != ptp {
		t.Errorf("one has ended, and the stamps of the other are %v", d.now)
	}
	check(t, second())
	if d.now != (Config{}) || len(d.writes) != 2 {
		t.Errorf("all have ended: %v after %d writes", d.now, len(d.writes))
	}
	third, err := s.configure(d, "eth0", ptp)
	check(t, err)
	check(t, third())
	if d.now != (Config{}) {
		t.Errorf("a third was put back to %v", d.now)
	}
}
