package probes

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/nic"
)

// hardware is a NIC whose stamps a probe uses.
type hardware struct {
	clock   string // that the stamps are read from: /dev/ptpN
	facts   []datasets.Field
	restore func() error // puts back what was changed; nothing without Plan.AllowNICConfig
}

// useHardware makes sure that iface stamps what leaves and, by one of the filters, the
// first that it has, what arrives. It changes a setting only where the plan allows
// it; otherwise what is switched on must do, if only for some of the packets.
func useHardware(iface string, plan Plan, filters ...nic.Filter) (*hardware, error) {
	can, err := nic.Inspect(iface)
	if err != nil {
		return nil, err
	}
	clock, ok := can.Device()
	if !ok || can.Hardware() == nic.Nothing {
		return nil, fmt.Errorf("%s: %s (use stamps=kernel)", iface, can.Sentence())
	}
	h := &hardware{clock: clock, restore: func() error { return nil }}
	if plan.AllowNICConfig {
		if err := h.configure(iface, &can, filters); err != nil {
			return nil, err
		}
	}
	set, err := nic.ReadConfig(iface)
	if err == nil && (set.TX == nic.TXOff || set.RX == nic.RXNone) {
		err = fmt.Errorf("%s: its stamps are switched off (%s): --allow-nic-config lets tickmark switch them on, and off again at the end", iface, set)
	}
	if err != nil {
		return nil, errors.Join(err, h.restore())
	}
	h.facts = append(h.facts, datasets.Field{Key: "nic-config", Value: set.String()})
	return h, nil
}

func (h *hardware) configure(iface string, can *nic.Abilities, filters []nic.Filter) error {
	for _, f := range filters {
		if slices.Contains(can.RX, f) {
			restore, err := nic.Configure(iface, nic.Config{TX: nic.TXOn, RX: f})
			if err == nil {
				h.restore = restore
			}
			return err
		}
	}
	return fmt.Errorf("%s: %s (use stamps=kernel)", iface, can.Sentence())
}

// pathFacts returns what a header says of the interface that leads to an address:
// its name, its driver and what it can stamp. What the system does not tell is left out.
func pathFacts(remote netip.Addr) []datasets.Field {
	iface, err := nic.Towards(remote)
	if err != nil {
		return nil
	}
	return nic.Facts(iface)
}

// put restores what was changed; it may be called on nil.
func (h *hardware) put() error {
	if h == nil {
		return nil
	}
	return h.restore()
}
