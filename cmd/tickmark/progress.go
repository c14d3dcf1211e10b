package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// isTerminal reports whether w is a terminal, where a bar may move.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// showProgress draws a bar on a terminal until done is called: how much of total
// is there, and how long the rest will take. Elsewhere it does nothing. A total
// of zero draws a count without an end.
func showProgress(ctx context.Context, w io.Writer, what string, total int64, have func() int64) (done func()) {
	if !isTerminal(w) {
		return func() {}
	}
	if total <= 0 {
		total = -1
	}
	bar := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionUseANSICodes(os.Getenv("NO_COLOR") == ""))
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = bar.Set64(have())
			}
		}
	}()
	return func() {
		cancel()
		<-stopped
		_ = bar.Finish()
	}
}
