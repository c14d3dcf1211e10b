// Command tickmark measures clocks and timeouts; `tickmark help` says how.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	addProcessors()
	// What a probe changed it puts back, also when its terminal or its reader goes away:
	// a closed pipe is then an error of a write, not the end.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
