package probes

import (
	"context"
	"errors"
)

func (p ptpProbe) listen(context.Context, string, Plan, Recorder) error {
	return errors.New("not yet")
}
