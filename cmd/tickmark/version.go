package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis/report"
)

// version names this build: the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

func newVersionVerb(s *streams) *cobra.Command {
	out := &output{}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Say which build this is",
		Example: "  tickmark version\n  tickmark version -f json\n  tickmark version -f json --table build",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			build := report.Table{Name: "build", Columns: []report.Column{{Name: "fact"}, {Name: "value"}}}
			build.Rows = append(build.Rows,
				[]any{"tickmark", version()}, []any{"go", runtime.Version()}, []any{"platform", runtime.GOOS + "/" + runtime.GOARCH})
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, d := range info.Deps {
					build.Rows = append(build.Rows, []any{d.Path, d.Version})
				}
			}
			return out.write(s, cmd.Name(), nil, nil, build)
		},
	}
	out.flags(cmd)
	return cmd
}
