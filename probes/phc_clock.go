package probes

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// phcWay is a way to read a PHC.
type phcWay struct {
	name string
	read func(fd uintptr, samples int) ([]crossStamp, error)
}

func wayNames() []string {
	var names []string
	for _, w := range phcWays() {
		names = append(names, w.name)
	}
	return names
}

// phcClock is an open PHC.
type phcClock struct {
	path       string // /dev/ptpN
	name       string // that its driver gives it
	interfaces []string
	caps       string // what it can do, in words
	way        phcWay
	refused    string // why the ways before it are not taken
	device     phcDevice
}

// phcDevice is what is read: a file, but in tests.
type phcDevice interface {
	Fd() uintptr
	Close() error
}

// read returns one reading or more.
func (c *phcClock) read(samples int) ([]crossStamp, error) {
	all, err := c.way.read(c.device.Fd(), samples)
	if err == nil && len(all) == 0 {
		err = errors.New("no reading came")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	return all, nil
}

// best returns the narrowest of the readings, and the width of the widest.
func (c *phcClock) best(samples int) (best crossStamp, widest time.Duration, err error) {
	all, err := c.read(samples)
	if err != nil {
		return best, 0, err
	}
	best, widest = narrowest(all)
	return best, widest, nil
}

func (c *phcClock) close() error { return c.device.Close() }

// choose takes the first way, or the named one, by which the device can be read. What
// a driver lacks it says by many names (EOPNOTSUPP, ENOTTY, ENODEV where its cross
// time-stamping finds no counter): any error makes the next way be tried.
func (c *phcClock) choose(ways []phcWay, name string, samples int) error {
	var reasons []string
	for _, w := range ways {
		if name != "auto" && name != w.name {
			continue
		}
		c.way = w
		_, err := c.read(samples)
		if err == nil {
			c.refused = strings.Join(reasons, "; ")
			return nil
		}
		reasons = append(reasons, w.name+": "+strings.TrimPrefix(err.Error(), c.path+": "))
	}
	return fmt.Errorf("%s: cannot be read: %s", c.path, strings.Join(reasons, "; "))
}
