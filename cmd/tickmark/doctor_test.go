package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/probes/doctor"
)

// TestDoctorFitsTheTerminal: only a command that is to be copied whole may be wider.
func TestDoctorFitsTheTerminal(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"doctor"}, nil, &out, &errs); code != exitDone {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	for line := range strings.Lines(out.String()) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 100 && !strings.HasPrefix(strings.TrimSpace(line), "`") {
			t.Errorf("too wide: %s", line)
		}
	}
}

func TestDoctorSaysTheAnswerFirst(t *testing.T) {
	d := &doctor.Diagnosis{Stamps: "This host can stamp packets in the kernel.", Findings: []doctor.Finding{{Subject: "a", State: doctor.OK, What: "b"}}}
	for _, test := range []struct {
		add  doctor.State
		want string
	}{
		{doctor.OK, "Nothing stands in the way; in order: 2."},
		{doctor.Note, "Nothing stands in the way; worth knowing: 1 note; in order: 2."},
		{doctor.Note, "Nothing stands in the way; worth knowing: 2 notes; in order: 2."},
		{doctor.Warning, "In the way: 1 warning; worth knowing: 2 notes; in order: 2."},
		{doctor.Problem, "In the way: 1 problem, 1 warning; worth knowing: 2 notes; in order: 2."},
	} {
		d.Findings = append(d.Findings, doctor.Finding{Subject: "c", State: test.add, What: "d", Why: "e", Do: "f"})
		if diff := cmp.Diff([]string{d.Stamps, test.want}, doctorHeadline(d)); diff != "" {
			t.Error(diff)
		}
	}
}
