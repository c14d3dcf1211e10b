//go:build !linux

package stamp

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// departures is what a system without stamps of departures needs: nothing.
type departures struct{}

func (c *Conn) prepareDepartures(source datasets.Source) error {
	return fmt.Errorf("%s stamps of departures on %s: %w", source, runtime.GOOS, errors.ErrUnsupported)
}

func (c *Conn) renumber() {}

func (c *Conn) drain() {}

func (c *Conn) departure(uint32, time.Time) (datasets.Stamp, error) {
	return datasets.Stamp{}, ErrNoStamp
}
