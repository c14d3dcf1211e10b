package nic

import (
	"errors"
	"fmt"
	"sync"
)

// Config is which hardware stamps are switched on at an interface, for everybody.
type Config struct {
	TX TXType
	RX Filter
	// Flags of struct hwtstamp_config, kept as they were read.
	Flags int32
}

func (c Config) String() string { return fmt.Sprintf("tx %s, rx %s", c.TX, c.RX) }

// Covers reports whether c stamps all that want does. One-step hardware stamps what a
// client sends as TXOn does: only Sync and Pdelay_Resp are not reported by it.
func (c Config) Covers(want Config) bool {
	tx := c.TX == want.TX || want.TX == TXOff || want.TX == TXOn && c.TX != TXOff
	return tx && c.RX.Covers(want.RX)
}

// ReadConfig returns which hardware stamps are switched on. It needs no rights; an
// interface that has none gives an error that is errors.ErrUnsupported.
func ReadConfig(iface string) (Config, error) { return system{}.read(iface) }

// Configure switches on the hardware stamps of want and returns a function that puts
// back what was there. It is the only function of tickmark that changes a NIC and may
// be called only where the user said --allow-nic-config; it needs CAP_NET_ADMIN.
//
// A setting that covers want already is left alone, and one that want would take away
// from somebody (a daemon that uses another filter) is refused. restore leaves alone
// what somebody else has changed since, and says so. Both are always safe to call.
//
// Who asks for what another part of this program has set shares that, and the last of
// them puts it back.
func Configure(iface string, want Config) (restore func() error, err error) {
	return shared.configure(system{}, iface, want)
}

// shared is this program's: an interface has one setting, whoever asks for it.
var shared = &sharing{of: map[string]*users{}} //nolint:gochecknoglobals // a NIC is as global as can be

type sharing struct {
	mu sync.Mutex
	of map[string]*users
}

// users are those who rely on what one of them has set.
type users struct {
	n       int
	config  Config
	restore func() error
}

func (s *sharing) configure(settings settings, iface string, want Config) (release func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.of[iface]
	if u == nil || !u.config.Covers(want) {
		restore, err := configure(settings, iface, want)
		if err != nil || u != nil {
			return restore, err
		}
		u = &users{config: want, restore: restore}
		s.of[iface] = u
	}
	u.n++
	return sync.OnceValue(func() error { return s.leave(iface, u) }), nil
}

func (s *sharing) leave(iface string, u *users) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.n--; u.n > 0 {
		return nil
	}
	delete(s.of, iface)
	return u.restore()
}

// settings reads and writes the configuration of an interface; write returns what the
// driver made of it.
type settings interface {
	read(iface string) (Config, error)
	write(iface string, c Config) (Config, error)
}

func configure(s settings, iface string, want Config) (restore func() error, err error) {
	nothing := func() error { return nil }
	before, err := s.read(iface)
	if err != nil {
		return nothing, fmt.Errorf("%w (what cannot be read could not be restored)", err)
	}
	switch {
	case before.Covers(want):
		return nothing, nil
	case !want.Covers(before):
		return nothing, fmt.Errorf("nic %s: stamps are set to %s, which %s would end for whoever uses them; ask for a wider filter or stop that program", iface, before, want)
	}
	want.Flags = before.Flags
	got, err := s.write(iface, want)
	if err != nil {
		return nothing, err
	}
	restore = func() error { return putBack(s, iface, before, got) }
	// The driver may widen the filter, and says "some" for what has no name.
	if !got.Covers(want) && got.RX != RXSome {
		return nothing, errors.Join(fmt.Errorf("nic %s: asked for %s, got %s", iface, want, got), restore())
	}
	return restore, nil
}

func putBack(s settings, iface string, before, ours Config) error {
	now, err := s.read(iface)
	switch {
	case err != nil:
		return err
	case now == before:
		return nil
	case now != ours:
		return fmt.Errorf("nic %s: stamps were set to %s by another program meanwhile; left so (they were %s)", iface, now, before)
	}
	_, err = s.write(iface, before)
	return err
}
