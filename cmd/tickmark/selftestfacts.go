package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// modeOf is the way in which the probe of a canonical spec takes stamps. It is "" where no
// self-test covers them, and then it says why if one might be expected to.
func modeOf(canonical string) (mode, why string) {
	name, options, _ := strings.Cut(canonical, ":")
	has := func(o string) bool { return strings.Contains(","+options+",", ","+o+",") }
	switch {
	case name != "ntp" && name != "ptp":
		return "", ""
	case has("stamps=hardware"):
		return "", "none reaches the stamps of a NIC"
	case has("mode=listen"):
		return "", "none covers what is heard of others' packets"
	case has("engine=portable"):
		return "", "none is made of the portable engine"
	case has("stamps=user"):
		return modeUser, ""
	case name == "ptp" || has("mode=interleaved"):
		return modeInterleaved, ""
	case has("stamps=kernel"):
		return modeKernel, ""
	}
	return modeBasic, ""
}

// selfTestFacts are what headers say of the instrument that the spec describes, from a
// self-test of late, and a doubt if there may be one that cannot be read.
func selfTestFacts(now time.Time, canonical string) (facts []datasets.Field, doubt string) {
	mode, why := modeOf(canonical)
	switch {
	case why != "":
		return []datasets.Field{{Key: datasets.KeySelfTest, Value: why}}, ""
	case mode == "":
		return nil, ""
	}
	k, known, err := knownTest(now, mode)
	if err != nil {
		return nil, err.Error()
	}
	if !known {
		return nil, ""
	}
	says := fmt.Sprintf("%s, mode %s, %s", k.Says, mode, ago(now.Sub(k.At)))
	return []datasets.Field{{Key: datasets.KeySelfTest, Value: says}, {Key: datasets.KeySelfBias, Value: k.Bias.String()}}, ""
}

// doctorSelfTest says in a sentence what is known of this host's default way.
func doctorSelfTest() (found string, known bool, err error) {
	k, known, err := knownTest(time.Now(), modeBasic)
	if !known || err != nil {
		return "", false, err
	}
	return k.Says + ", " + ago(time.Since(k.At)), true, nil
}

// ago says how old something is, to the minute or hour.
func ago(age time.Duration) string {
	switch {
	case age < time.Minute:
		return "less than a minute ago"
	case age < 2*time.Hour:
		return fmt.Sprintf("%d min ago", age/time.Minute)
	case age < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", age/time.Hour)
	}
	return fmt.Sprintf("%d days ago", age/(24*time.Hour))
}
