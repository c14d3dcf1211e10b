package probes_test

import (
	"testing"

	"github.com/tickmark/tickmark/datasets/spec/spectest"
	"github.com/tickmark/tickmark/probes"
)

func TestProbes(t *testing.T) {
	spectest.Check(t, "probe", probes.Probes())
}
