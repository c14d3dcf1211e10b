package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/datasets"
)

func newAnonymiseVerb(s *streams) *cobra.Command {
	in, to, keyFile := &input{}, "", ""
	cmd := &cobra.Command{
		Use:   "anonymise TRACE... -o FILE or FOLDER",
		Short: "Traces without names, to give away: hosts, addresses and targets become tokens",
		Long: `The same name has the same token in all traces given together, and in others by the same --key-file.
Times stay as they are. Facts of daemons are left out; look at the result before you send it.`,
		Example: `  tickmark anonymise api.trace -o for-the-vendor.trace
  tickmark anonymise --key-file secret monday/*.trace -o monday-anonymous/`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" || len(args) > 1 && !isFolder(to) {
				return usagef("anonymise: want -o FILE, or -o FOLDER/ for several")
			}
			key, err := anonymousKey(keyFile)
			if err != nil {
				return err
			}
			a := datasets.NewAnonymiser(key)
			for i, path := range args {
				name := to
				if isFolder(to) {
					if err := os.MkdirAll(to, 0o755); err != nil {
						return plainPathError(err)
					}
					name = filepath.Join(to, fmt.Sprintf("trace-%d.trace", i+1)) // its own name may tell
				}
				stream, done, err := in.open(cmd.Context(), s, path)
				if err != nil {
					return err
				}
				h := &handOn{file: name}
				err = h.trace(s, &anonymous{stream, a}, nil)
				done()
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	in.flags(cmd)
	cmd.Flags().StringVarP(&to, "output", "o", "", "write to this `file`, or folder for several")
	cmd.Flags().StringVar(&keyFile, "key-file", "", "the `file` with a secret, so that tokens are those of another time")
	return cmd
}

func anonymousKey(file string) ([]byte, error) {
	if file == "" {
		key := make([]byte, 32)
		_, err := rand.Read(key)
		return key, err
	}
	key, err := os.ReadFile(file)
	if err != nil {
		return nil, plainPathError(err)
	}
	if len(key) < 16 {
		return nil, fmt.Errorf("%s: %d bytes: want a secret of at least 16", file, len(key))
	}
	return key, nil
}

// anonymous is a stream whose names are tokens.
type anonymous struct {
	datasets.Stream
	a *datasets.Anonymiser
}

func (s *anonymous) Header() *datasets.Header { return s.a.Header(s.Stream.Header()) }

func (s *anonymous) Next(row datasets.Row) bool {
	if !s.Stream.Next(row) {
		return false
	}
	s.a.Row(row)
	return true
}

// Warnings returns none: they name files and targets.
func (s *anonymous) Warnings() []string { return nil }
