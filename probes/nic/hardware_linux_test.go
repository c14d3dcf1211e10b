package nic

import (
	"os"
	"testing"
)

// TestHardware configures a real interface and puts it back: in the laboratory, whose
// machine is made for it, and where somebody names an interface of his own.
func TestHardware(t *testing.T) {
	iface := os.Getenv("TICKMARK_LAB_NIC")
	if iface == "" {
		t.Skip("needs an interface with hardware stamps, named by TICKMARK_LAB_NIC")
	}
	a, err := Inspect(iface)
	check(t, err)
	t.Logf("%s %s %s: %s; tx %v, rx %v", iface, a.Driver, a.Bus, a.Sentence(), words(a.TX), words(a.RX))
	if a.Hardware() == Nothing {
		t.Fatalf("%+v has no hardware stamps", a)
	}
	before, err := ReadConfig(iface)
	check(t, err)
	want := Config{TX: TXOn, RX: a.RX[len(a.RX)-1]}
	restore, err := Configure(iface, want)
	check(t, err)
	during, err := ReadConfig(iface)
	check(t, err)
	if !during.Covers(want) {
		t.Errorf("asked for %v, now %v", want, during)
	}
	check(t, restore())
	after, err := ReadConfig(iface)
	check(t, err)
	if after != before {
		t.Errorf("was %v, left at %v", before, after)
	}
	t.Logf("was %v, then %v, then %v", before, during, after)
}
