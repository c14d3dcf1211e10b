package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
to standard output, or to -o, whose ending chooses the form (tickmark list exports). A file may hold several series, such as
one for each server in one log: -o FOLDER/ makes a trace of each, and FILE#NAME is one of them. A folder
stands for the files in it.`,
		Example: `  tickmark import results.csv -o results.parquet
  tickmark import --latency-column rtt --unit ms calls.csv -o calls.trace
  tickmark import --format csv:latency-column=rtt,unit=ms,listen=1s calls.csv | tickmark show -
  tickmark import /var/log/chrony/measurements.log -o traces/
  tickmark import measurements.log#192.0.2.1 -o server.trace
  tickmark import old.trace.gz -o new.trace.zst`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.useColumns(cmd.Flags()); err != nil {
				return err
			}
			if file == "-" {
				file = ""
			}
			return importAll(cmd.Context(), s, in, args, file)
		},
	}
	in.flags(cmd)
	flags := cmd.Flags()
	flags.String("latency-column", "", "CSV: the `column` that holds the latencies; an empty cell is a timeout")
	flags.String("unit", "", "CSV, phase: the `unit` of the values: s, ms, us or ns; of frequencies Hz, 1 or ppm")
	flags.String("time-column", "", "CSV: the `column` that holds the times of sending")
	flags.String("time-unit", "", "CSV: the `unit` of the times: s, ms, us or ns")
	flags.String("series", "", "a value a line: `what` the values are, phase or frequency")
	flags.Duration("tau0", 0, "phase or frequency: the `distance` between two values")
	flags.Float64("nominal", 0, "frequency: the one in `Hz` that is meant, of values in Hz")
	flags.Duration("listen", 0, "CSV: the `time` an unanswered call was waited for")
	flags.StringVarP(&file, "output", "o", "", "write to this `file`, or folder for several (.gz and .zst compress)")
	return cmd
}

// importAll imports every file: to -o itself, or into the folder that it is.
func importAll(ctx context.Context, s *streams, in *input, args []string, to string) error {
	files, err := importFiles(args)
	if err != nil {
		return err
	}
	one := len(args) == 1 && files[0] == args[0]
	switch {
	case !one && to == "":
		return usagef("import: %s need -o FOLDER", counted(int64(len(files)), "file"))
	case one && !isFolder(to):
		return importOne(ctx, s, in, files[0], to)
	}
	if err := checkBases(files, to); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return plainPathError(err)
	}
	if one {
		return importInto(ctx, s, in, files[0], to)
	}
	return importEach(ctx, s, in, files, to)
}

// importEach goes on behind a file that cannot be read: it is no reason to leave out the
// others.
func importEach(ctx context.Context, s *streams, in *input, files []string, folder string) error {
	failed := 0
	for _, file := range files {
		err := importInto(ctx, s, in, file, folder)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			failed++
			fmt.Fprintf(s.err, "tickmark: %v\n", err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("import: %d of %d files could not be read", failed, len(files))
	}
	return nil
}

// isFolder reports whether a name is meant as one: it ends as one, or is one.
func isFolder(name string) bool {
	if strings.HasSuffix(name, "/") || strings.HasSuffix(name, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(name)
	return name != "" && err == nil && info.IsDir()
}

// importFiles puts in place of a folder the files in it, but for hidden ones.
func importFiles(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		entries, err := os.ReadDir(arg)
		if err != nil { // a file, or nothing, which opening it tells
			files = append(files, arg)
			continue
		}
		for _, e := range entries {
			if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
				files = append(files, filepath.Join(arg, e.Name()))
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: a folder without files", args[0])
	}
	return files, nil
}

// checkBases refuses two files whose traces would have one name.
func checkBases(files []string, to string) error {
	from := map[string]string{}
	for _, path := range files {
		name := filepath.Join(to, traceBase(path)+".trace")
		if other, taken := from[name]; taken {
			return usagef("import: %s and %s would both become %s: import them apart", other, path, name)
		}
		from[name] = path
	}
	return nil
}

// describing are the flags that describe the files of a format which do not describe
// themselves.
func describing() map[string][]string {
	return map[string][]string{
		"csv":   {"latency-column", "unit", "time-column", "time-unit", "listen"},
		"phase": {"series", "unit", "tau0", "nominal"},
	}
}

// useColumns turns the flags that describe a file into its format's options.
func (i *input) useColumns(flags *pflag.FlagSet) error {
	format, first := "csv", ""
	for _, name := range []string{"series", "tau0", "nominal", "latency-column", "unit", "time-column", "time-unit", "listen"} {
		if flags.Lookup(name).Changed && first == "" {
			if first = name; !slices.Contains(describing()["csv"], name) {
				format = "phase"
			}
		}
	}
	if first == "" {
		return nil
	}
	if i.format != "" && i.format != format {
		return usagef("import: --%s describes %s, but --format is %q", first, map[string]string{"csv": "a CSV file", "phase": "phase or frequency data"}[format], i.format)
	}
	var options []string
	var wrong error
	flags.Visit(func(f *pflag.Flag) {
		all := slices.Concat(describing()["csv"], describing()["phase"])
		switch {
		case slices.Contains(describing()[format], f.Name):
			options = append(options, fmt.Sprintf("%s=%q", f.Name, f.Value))
		case slices.Contains(all, f.Name):
			wrong = usagef("import: --%s does not go with --%s", f.Name, first)
		}
	})
	i.format = format + ":" + strings.Join(options, ",")
	return wrong
}

// importInto makes a trace of each series of a file, in a folder.
func importInto(ctx context.Context, s *streams, in *input, path, folder string) error {
	stream, done, err := in.open(ctx, s, path)
	if err != nil {
		return err
	}
	defer done()
	f, foreign := stream.(*datasets.Foreign)
	if _, _, chosen := cutSeries(path); !foreign || chosen {
		return importStream(s, stream, path, filepath.Join(folder, traceBase(path)+".trace"))
	}
	began := time.Now()
	rows, names, err := importSeries(f, folder, path)
	if err != nil {
		return err
	}
	warnImport(s, stream)
	into := fmt.Sprintf("%d traces", len(names))
	if len(names) == 1 {
		into = names[0]
	}
	fmt.Fprintf(s.err, "%s: %s in %s to %s\n", path, counted(rows, "row"), time.Since(began).Round(time.Millisecond), into)
	return nil
}

func importOne(ctx context.Context, s *streams, in *input, path, to string) error {
	stream, done, err := in.open(ctx, s, path)
	if err != nil {
		return err
	}
	defer done()
	return importStream(s, stream, path, to)
}

// importStream writes one series to a file, or to standard output.
func importStream(s *streams, stream datasets.Stream, path, to string) error {
	began := time.Now()
	var rows int64
	export, _, err := datasets.Exports().Parse("form", datasets.ExportFor(to))
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		zip, err := datasets.Compress(to, w)
		if err != nil {
			return err
		}
		if rows, err = encode(zip, export, stream, nil); err != nil {
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
	warnImport(s, stream)
	fmt.Fprintf(s.err, "%s: %s in %s\n", path, counted(rows, "row"), time.Since(began).Round(time.Millisecond))
	return nil
}

func warnImport(s *streams, stream datasets.Stream) {
	for _, warning := range stream.Warnings() {
		fmt.Fprintf(s.err, "  ! %s\n", warning)
	}
}

// trailerOf returns what the end of a source told beside the header that was written.
func trailerOf(written, whole *datasets.Header, warnings []string) []datasets.Field {
	var trailer []datasets.Field
	for _, f := range whole.Fields() {
		// The stream repeats the warnings of an earlier import among its own.
		if was, ok := written.Value(f.Key); f.Key != datasets.KeyImportWarnings && (!ok || was != f.Value) {
			trailer = append(trailer, f)
		}
	}
	if len(warnings) > 0 {
		trailer = append(trailer, datasets.Field{Key: datasets.KeyImportWarnings, Value: strings.Join(warnings, "; ")})
	}
	return trailer
}
