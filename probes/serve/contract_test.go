package serve_test

import (
	"testing"

	"github.com/tickmark/tickmark/datasets/spec/spectest"
	"github.com/tickmark/tickmark/probes/serve"
)

func TestFaultsKeepTheContract(t *testing.T) { spectest.Check(t, "fault", serve.Faults()) }
