package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tickmark/tickmark/datasets"
)

func newImportVerb(s *streams) *cobra.Command {
	in, file := &input{}, ""
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Turn another tool's file into a trace",
		Long: `Reads a file of a format that tickmark knows (tickmark list formats) and writes it as a trace:
to standard output, or to -o, which is a folder for several files.`,
		Example: `  tickmark import --latency-column rtt --unit ms calls.csv -o calls.trace
  tickmark import --format csv:latency-column=rtt,unit=ms,listen=1s calls.csv | tickmark show -
  tickmark import old.trace.gz -o new.trace.zst`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.useColumns(cmd.Flags()); err != nil {
				return err
			}
			if file == "-" {
				file = ""
			}
			names, err := importNames(args, file)
			if err != nil {
				return err
			}
			for i, path := range args {
				if err := importOne(cmd.Context(), s, in, path, names[i]); err != nil {
					return err
				}
			}
			return nil
		},
	}
	in.flags(cmd)
	flags := cmd.Flags()
	flags.String("latency-column", "", "CSV: the `column` that holds the latencies; an empty cell is a timeout")
	flags.String("unit", "", "CSV: the `unit` of the latencies: s, ms, us or ns")
	flags.String("time-column", "", "CSV: the `column` that holds the times of sending")
	flags.String("time-unit", "", "CSV: the `unit` of the times: s, ms, us or ns")
	flags.Duration("listen", 0, "CSV: the `time` an unanswered call was waited for")
	flags.StringVarP(&file, "output", "o", "", "write to this `file`, or folder for several (.gz and .zst compress)")
	return cmd
}

// importNames returns what each file becomes: -o itself for one, a trace in it for
// several.
func importNames(files []string, to string) ([]string, error) {
	if len(files) == 1 {
		return []string{to}, checkTraceName("import", to)
	}
	if to == "" {
		return nil, usagef("import: %d files need -o FOLDER", len(files))
	}
	from := map[string]string{}
	var names []string
	for _, path := range files {
		base := filepath.Base(path)
		name := filepath.Join(to, strings.TrimSuffix(base, filepath.Ext(base))+".trace")
		if other, taken := from[name]; taken {
			return nil, usagef("import: %s and %s would both become %s: import them apart", other, path, name)
		}
		from[name] = path
		names = append(names, name)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, plainPathError(err)
	}
	return names, nil
}

// useColumns turns the flags that describe a CSV file into the format's options.
func (i *input) useColumns(flags *pflag.FlagSet) error {
	var options []string
	for _, name := range []string{"latency-column", "unit", "time-column", "time-unit", "listen"} {
		if f := flags.Lookup(name); f.Changed {
			options = append(options, fmt.Sprintf("%s=%q", name, f.Value))
		}
	}
	if len(options) == 0 {
		return nil
	}
	if i.format != "" && i.format != "csv" {
		return usagef("import: --%s describes a CSV file, but --format is %q", strings.SplitN(options[0], "=", 2)[0], i.format)
	}
	i.format = "csv:" + strings.Join(options, ",")
	return nil
}

func importOne(ctx context.Context, s *streams, in *input, path, to string) error {
	stream, done, err := in.open(ctx, s, path)
	if err != nil {
		return err
	}
	defer done()
	began := time.Now()
	var rows int64
	write := func(w io.Writer) error {
		zip, err := datasets.Compress(to, w)
		if err != nil {
			return err
		}
		if rows, err = copyTrace(zip, stream); err != nil {
			return err
		}
		return zip.Close()
	}
	if to == "" {
		err = write(s.out)
	} else {
		err = replaceFile(to, write)
	}
	if err != nil {
		return err
	}
	for _, warning := range stream.Warnings() {
		fmt.Fprintf(s.err, "  ! %s\n", warning)
	}
	fmt.Fprintf(s.err, "%s: %s in %s\n", path, counted(rows, "row"), time.Since(began).Round(time.Millisecond))
	return nil
}

// copyTrace writes all of a stream as a native trace. What the end of the source
// told goes to the end of the copy.
func copyTrace(w io.Writer, stream datasets.Stream) (int64, error) {
	h := stream.Header().Clone()
	out, err := datasets.NewWriter(w, h)
	if err != nil {
		return 0, err
	}
	row, _ := datasets.NewRow(h.Kind())
	for stream.Next(row) {
		if err := out.Write(row); err != nil {
			return 0, err
		}
	}
	if err := stream.Err(); err != nil {
		return 0, err
	}
	var trailer []datasets.Field
	for _, f := range stream.Header().Fields() {
		// The stream repeats the warnings of an earlier import among its own.
		if was, ok := h.Value(f.Key); f.Key != datasets.KeyImportWarnings && (!ok || was != f.Value) {
			trailer = append(trailer, f)
		}
	}
	if warnings := stream.Warnings(); len(warnings) > 0 {
		trailer = append(trailer, datasets.Field{Key: datasets.KeyImportWarnings, Value: strings.Join(warnings, "; ")})
	}
	return out.Rows(), out.Close(trailer...)
}
