package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/probes/serve"
)

func newServeVerb(s *streams) *cobra.Command {
	var (
		cfg      serve.Config
		faults   []string
		reflects stampFlags
		duration time.Duration
	)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Be the other end: a UDP echo with its own stamps, a TCP echo, NTP and STAMP, with faults on demand",
		Long: `Serves until Ctrl-C. The NTP server is for measuring, not for setting clocks: it hands out
this host's time as it is. Faults are repeatable and seeded (tickmark list faults).`,
		Example: `  tickmark serve --udp :9123 --tcp :9123 --ntp :9124
  tickmark serve --ntp 127.0.0.1:9124 --fault offset:by=1.234567ms
  tickmark serve --stamp :862 --stamp-key /etc/stamp.key
  tickmark serve --udp :9123 --fault freeze:every=10s,for=400ms --fault loss:share=1%`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := reflects.fill(&cfg.STAMP); err != nil {
				return err
			}
			if err := checkServe(cfg, duration); err != nil {
				return err
			}
			for _, text := range faults {
				f, _, err := serve.Faults().Parse("fault", text)
				if err != nil {
					return err
				}
				cfg.Faults = append(cfg.Faults, f)
			}
			return serveUntilDone(cmd.Context(), s, cfg, faults, duration)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&cfg.UDP, "udp", "", "serve the UDP echo at this `address` (:9123)")
	flags.StringVar(&cfg.TCP, "tcp", "", "echo bytes over TCP at this `address` (:9123), without faults")
	flags.StringVar(&cfg.NTP, "ntp", "", "serve NTP at this `address` (:123 needs privileges)")
	reflects.bind(flags, &cfg.STAMP)
	flags.IntVar(&cfg.Stratum, "stratum", 1, "the stratum to claim, 1 to 16")
	flags.StringArrayVar(&faults, "fault", nil, "inject a fault, by `spec` (tickmark list faults); repeatable")
	complete(cmd, "fault", serve.Faults().Names())
	flags.Uint64Var(&cfg.Seed, "seed", 1, "seed of the faults")
	flags.DurationVar(&duration, "duration", 0, "stop after this `time` (0: at Ctrl-C)")
	return cmd
}

func checkServe(cfg serve.Config, duration time.Duration) error {
	switch {
	case cfg.UDP == "" && cfg.TCP == "" && cfg.NTP == "" && cfg.STAMP.Addr == "":
		return usagef("serve: say what to serve: --udp ADDR, --tcp ADDR, --ntp ADDR, --stamp ADDR or several")
	case cfg.Stratum < 1 || cfg.Stratum > 16:
		return usagef("serve: --stratum %d: want 1 to 16", cfg.Stratum)
	case duration < 0:
		return usagef("serve: --duration %s: must not be negative", duration)
	}
	for _, addr := range []string{cfg.UDP, cfg.TCP, cfg.NTP, cfg.STAMP.Addr} {
		if addr == "" {
			continue
		}
		_, port, err := net.SplitHostPort(addr)
		if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
			return usagef("serve: address %q: want HOST:PORT with a port up to 65535", addr)
		}
	}
	return nil
}

func serveUntilDone(ctx context.Context, s *streams, cfg serve.Config, faults []string, duration time.Duration) error {
	server, err := serve.Start(cfg)
	if err != nil {
		return err
	}
	if a := server.UDPAddr(); a.IsValid() {
		fmt.Fprintf(s.err, "serving UDP echo at %s\n", a)
	}
	if a := server.TCPAddr(); a.IsValid() {
		fmt.Fprintf(s.err, "serving TCP echo at %s\n", a)
	}
	if a := server.NTPAddr(); a.IsValid() {
		fmt.Fprintf(s.err, "serving NTP at %s\n", a)
	}
	if a := server.STAMPAddr(); a.IsValid() {
		fmt.Fprintf(s.err, "reflecting STAMP at %s\n", a)
	}
	if len(faults) > 0 {
		fmt.Fprintf(s.err, "injecting %s (seed %d)\n", strings.Join(faults, ", "), cfg.Seed)
	}
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, duration)
		defer cancel()
	}
	<-ctx.Done()
	err = server.Close()
	stats := server.Stats()
	for _, l := range []struct {
		name   string
		counts serve.Counts
	}{{"UDP echo", stats.UDP}, {"NTP", stats.NTP}, {"STAMP", stats.STAMP}} {
		if c := l.counts; c.Received > 0 || c.Frozen > 0 {
			fmt.Fprintf(s.err, "%s: %d received, %d sent, %d ignored, %d lost on purpose, %d freezes\n",
				l.name, c.Received, c.Sent, c.Ignored, c.Lost, c.Frozen)
		}
	}
	if c := stats.TCP; c.Connections > 0 {
		fmt.Fprintf(s.err, "TCP echo: %d connections, %d bytes sent back\n", c.Connections, c.Bytes)
	}
	return err
}
