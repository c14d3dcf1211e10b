// Command lab runs a script against real Linux drivers for NICs with clocks of their
// own, on a machine that has none. It boots Debian's kernel in qemu, which emulates a
// whole computer with two Intel 82576 NICs (driver igb), joined by a cable: each has a
// hardware clock, /dev/ptp0 and /dev/ptp1, and stamps packets by it.
//
//	go run ./probes/testdata/lab [-out DIR] SCRIPT FILE...
//
// SCRIPT is a shell script; it and the FILEs, static programs, are in the guest under
// /lab. What it prints is printed, and its exit code is returned. What it leaves in
// /lab/out goes to DIR.
//
// Time in the guest is counted in instructions, and idle time is skipped: however busy
// this machine is, a packet arrives in the nanosecond it left, so what is measured can
// be held to what was set.
//
// Nothing is installed and no right is needed: packages come from the mirror that apt
// knows, go into a cache, and run from there. Without them the exit code is 69.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// noPackages is EX_UNAVAILABLE of sysexits.h: there is nothing wrong, but no lab.
const noPackages = 69

// unavailable says why there can be no lab here.
type unavailable struct{ error }

func main() {
	out := flag.String("out", "", "`folder` for what the script leaves in /lab/out")
	flag.Parse()
	if flag.NArg() < 1 {
		fmt.Fprintln(os.Stderr, "lab: want SCRIPT [FILE...]")
		os.Exit(64)
	}
	code, err := run(flag.Arg(0), flag.Args()[1:], *out)
	var missing unavailable
	switch {
	case errors.As(err, &missing):
		fmt.Fprintln(os.Stderr, "lab skipped:", err)
		code = noPackages
	case err != nil:
		fmt.Fprintln(os.Stderr, "lab:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(script string, files []string, out string) (code int, err error) {
	cache := os.Getenv("TICKMARK_LAB_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return 1, err
		}
		cache = filepath.Join(base, "tickmark-lab")
	}
	cache, err = filepath.Abs(cache)
	if err != nil {
		return 1, err
	}
	image, err := prepare(cache)
	if err != nil {
		return 1, err
	}
	return image.boot(script, files, out)
}
