package main

import (
	"net"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/serve"
	"github.com/tickmark/tickmark/probes/twoway"
)

// stampFlags are the flags of the STAMP reflector.
type stampFlags struct{ addr, mode, format, key string }

const (
	statelessMode = "stateless"
	statefulMode  = "stateful"
)

func (f *stampFlags) bind(flags *pflag.FlagSet, cfg *serve.STAMP) {
	flags.StringVar(&f.addr, "stamp", "", "reflect STAMP (RFC 8762) at this `address` (:862 needs privileges)")
	flags.StringVar(&f.mode, "stamp-mode", statefulMode, "stateful: replies count, and tell on which way was lost; or stateless (`mode`)")
	flags.StringVar(&f.format, "stamp-format", twoway.NTP, "`format` of the reflector's times: ntp or ptp")
	flags.StringVar(&f.key, "stamp-key", "", "reflect STAMP in the authenticated mode, with the key in this `file`")
	flags.BoolVar(&cfg.Short, "stamp-short", false, "answer short TWAMP Light packets too, with up to three times as many bytes")
}

// fill makes them what is served.
func (f *stampFlags) fill(cfg *serve.STAMP) error {
	if f.mode != statefulMode && f.mode != statelessMode {
		return usagef("serve: --stamp-mode %q: want %s or %s", f.mode, statefulMode, statelessMode)
	}
	if _, err := twoway.NewClock(f.format); err != nil {
		return usagef("serve: --stamp-%v", err)
	}
	if f.addr == "" {
		if f.key != "" {
			return usagef("serve: --stamp-key without --stamp")
		}
		return nil
	}
	cfg.Addr, cfg.Stateless, cfg.Format = withPort(f.addr, wire.STAMPPort), f.mode == statelessMode, f.format
	if f.key == "" {
		return nil
	}
	var err error
	cfg.Key, err = twoway.Key(f.key)
	return err
}

// withPort adds the usual port to an address without one.
func withPort(addr string, usual int) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(strings.Trim(addr, "[]"), strconv.Itoa(usual))
}
