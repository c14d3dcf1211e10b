package nic

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Inspect returns what an interface can stamp, as `ethtool -T` shows it.
func Inspect(iface string) (Abilities, error) {
	a := Abilities{Interface: iface}
	err := withSocket(iface, func(fd int) error {
		info, err := unix.IoctlGetEthtoolTsInfo(fd, iface)
		if err != nil {
			return err
		}
		a.decode(info.So_timestamping, info.Phc_index, info.Tx_types, info.Rx_filters)
		if driver, err := unix.IoctlGetEthtoolDrvinfo(fd, iface); err == nil {
			a.Driver = unix.ByteSliceToString(driver.Driver[:])
			a.Bus = unix.ByteSliceToString(driver.Bus_info[:])
		}
		return nil
	})
	return a, err
}

// system is the settings of this host's interfaces.
type system struct{}

func (system) read(iface string) (c Config, err error) {
	err = withSocket(iface, func(fd int) error {
		h, err := unix.IoctlGetHwTstamp(fd, iface)
		if err == nil {
			c = Config{TX: TXType(h.Tx_type), RX: Filter(h.Rx_filter), Flags: h.Flags}
		}
		return err
	})
	return c, err
}

func (system) write(iface string, want Config) (got Config, err error) {
	err = withSocket(iface, func(fd int) error {
		h := unix.HwTstampConfig{Flags: want.Flags, Tx_type: int32(want.TX), Rx_filter: int32(want.RX)}
		err := unix.IoctlSetHwTstamp(fd, iface, &h)
		got = Config{TX: TXType(h.Tx_type), RX: Filter(h.Rx_filter), Flags: h.Flags}
		return err
	})
	return got, err
}

// withSocket gives f a socket to ask the kernel with; any will do.
func withSocket(iface string, f func(fd int) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("nic %s: %w", iface, err)
	}
	defer unix.Close(fd)
	if err := f(fd); err != nil {
		return fmt.Errorf("nic %q: %w", iface, err)
	}
	return nil
}
