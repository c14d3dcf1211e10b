package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tickmark/tickmark/datasets/spec"
)

// The exit codes of product.md's contract.
const (
	exitDone        = 0
	exitCouldNot    = 1
	exitWrongUse    = 2
	exitGateFailed  = 3
	exitInterrupted = 130
	exitBrokenPipe  = 141 // as a shell reports a program that SIGPIPE ended
)

// errInterrupted ends a command that Ctrl-C stopped; what was done is kept.
var errInterrupted = errors.New("interrupted")

// gateError is a condition of --fail-if that holds.
type gateError struct{ why string }

func (e *gateError) Error() string { return e.why }

// streams are where a command reads and writes: data on out, talk on err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(&streams{stdin, stdout, stderr})
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	if err != nil && code != exitInterrupted && code != exitBrokenPipe {
		fmt.Fprintf(stderr, "tickmark: %v\n", err)
	}
	return code
}

func exitCode(err error) int {
	var usage *spec.UsageError
	var gate *gateError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitWrongUse
	case errors.As(err, &gate):
		return exitGateFailed
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, syscall.EPIPE):
		return exitBrokenPipe
	}
	return exitCouldNot
}

func usagef(format string, args ...any) error {
	return &spec.UsageError{Msg: fmt.Sprintf(format, args...)}
}

func newRoot(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "tickmark",
		Short: "Measures how well clocks agree, how long calls take and how long processes freeze",
		Long: `tickmark measures how well clocks agree, how long calls take and how long processes
freeze, keeps every raw measurement, and turns them into decisions with their error
attached. It never adjusts a clock.`,
		Example: `  tickmark run                                     measure this host, replay, report
  tickmark probe ntp -o a.trace --count 500 HOST   record an NTP server
  tickmark tune api.trace                          which timeout, and what it costs`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
	}
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownVerb(root, args[0])
	}
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	for _, newVerb := range verbs() {
		verb := newVerb(s)
		checked := verb.Args
		verb.Args = func(cmd *cobra.Command, args []string) error {
			if err := checked(cmd, args); err != nil {
				return usagef("%s: %v (usage: %s)", cmd.Name(), err, cmd.UseLine())
			}
			return nil
		}
		root.AddCommand(verb)
	}
	return root
}

// verbs lists the commands, in the order of the help text.
func verbs() []func(*streams) *cobra.Command {
	return []func(*streams) *cobra.Command{
		newRunVerb, newProbeVerb, newServeVerb, newSelfTestVerb, newDoctorVerb, newImportVerb, newShowVerb, newClocksVerb, newTuneVerb,
		newPlotVerb, newReportVerb, newCatVerb, newHeadVerb, newSliceVerb, newMergeVerb, newSampleVerb, newAnonymiseVerb, newValidateVerb,
		newListVerb, newVersionVerb,
	}
}

func unknownVerb(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return spec.Unknown("verb", name, names)
}

// flagError adds the nearest right name to what pflag says of a wrong one.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return usagef("%s: %v", cmd.Name(), err)
	}
	name := missing.GetSpecifiedName()
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near, ok := spec.Nearest(name, names); ok {
		return usagef("%s: unknown flag %q: did you mean --%s?", cmd.Name(), name, near)
	}
	return usagef("%s: unknown flag %q (tickmark help %s names them)", cmd.Name(), name, cmd.Name())
}
