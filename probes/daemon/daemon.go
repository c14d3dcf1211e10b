package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// Daemon is one program, or the kernel, that makes claims about this host's clock.
type Daemon interface {
	// Ask asks once, until ctx is done at the latest, and writes what is claimed into r.
	// An error is that it said nothing of the clock; what it left out of a longer answer
	// is the fact "missing" of a claim.
	Ask(ctx context.Context, r *Reading) error
	// Close gives back what asking needed.
	Close() error
}

// Entry is one kind of daemon.
type Entry struct {
	Name    string
	Summary string
	// Places are where it is usually found, tried in this order.
	Places []string
	// Hint says what to do when it is found nowhere.
	Hint string
	// at returns the daemon at a place, or says what is wrong with the place as it is
	// written. It does no I/O.
	at func(place string) (Daemon, error)
}

// Daemons lists what can be asked.
func Daemons() []Entry {
	return []Entry{
		chronydEntry(),
		ntpdEntry(),
		ptp4lEntry(),
		sptpEntry(),
		timesyncdEntry(),
		clockboundEntry(),
		kernelEntry(),
	}
}

// Found is a daemon that has answered once.
type Found struct {
	Daemon
	Name  string
	Place string // where it answered
	Lost  string // what it cannot be asked for want of a permission, and what to do; or empty
}

// Open finds the daemon that target names, and gives each place as long as wait to
// answer.
func Open(ctx context.Context, target string, wait time.Duration) (*Found, error) {
	e, places, err := parse(target)
	if err != nil {
		return nil, err
	}
	for _, place := range places {
		if _, err := e.at(place); err != nil {
			return nil, &spec.UsageError{Msg: fmt.Sprintf("target %q: %v", target, err)}
		}
	}
	return e.open(ctx, places, wait)
}

// open returns the daemon at the first place that answers.
func (e Entry) open(ctx context.Context, places []string, wait time.Duration) (*Found, error) {
	var tried []error
	for _, place := range places {
		d, err := e.at(place)
		if err != nil {
			return nil, err
		}
		r, err := try(ctx, d, wait)
		if err == nil {
			return &Found{d, e.Name, place, lost(r, tried)}, nil
		}
		if err := errors.Join(d.Close(), ctx.Err()); err != nil {
			return nil, err
		}
		if place != "" {
			err = fmt.Errorf("%s: %w", place, err)
		}
		tried = append(tried, err)
	}
	return nil, fmt.Errorf("%s: %s (%s)", e.Name, joined(tried), e.Hint)
}

// try asks once, to see whether anybody answers.
func try(ctx context.Context, d Daemon, wait time.Duration) (*Reading, error) {
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	r := NewReading(func() (at datasets.Instant, wall datasets.Stamp) { return at, wall })
	return r, d.Ask(ctx, r)
}

// lost puts what an answer left out beside the places that would have answered more,
// had they been open to us.
func lost(r *Reading, tried []error) string {
	for _, err := range tried {
		if errors.Is(err, fs.ErrPermission) {
			return strings.TrimPrefix(r.lost+"; "+err.Error(), "; ")
		}
	}
	return r.lost
}

func joined(errs []error) string {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// parse reads NAME or NAME@ADDRESS.
func parse(target string) (Entry, []string, error) {
	name, place, given := strings.Cut(target, "@")
	var names []string
	for _, e := range Daemons() {
		names = append(names, e.Name)
		if e.Name != name {
			continue
		}
		switch {
		case !given:
			return e, e.Places, nil
		case place == "":
			return e, nil, &spec.UsageError{Msg: fmt.Sprintf("target %q: names no place behind the @", target)}
		}
		return e, []string{place}, nil
	}
	return Entry{}, nil, &spec.UsageError{Msg: fmt.Sprintf("target %q: want %s, or one of them @ADDRESS", target, strings.Join(names, ", "))}
}
