package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

func newSampleVerb(s *streams) *cobra.Command {
	h := &handOn{}
	every, share, seed := int64(0), "", uint64(1)
	cmd := &cobra.Command{
		Use:   "sample TRACE",
		Short: "Some of a trace's calls: every N-th, or a share of them by chance",
		Long:  "A call is kept with all of its attempts. The header says that the rest is missing: rates and gaps are not those of the whole.",
		Example: `  tickmark sample --share 1% big.trace -o small.trace
  tickmark sample --every 100 big.trace`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := sampled(every, share, seed)
			if err != nil {
				return err
			}
			return h.one(cmd.Context(), s, args[0], func(datasets.Stream) (*part, error) { return p, nil })
		},
	}
	h.flags(cmd)
	f := cmd.Flags()
	f.Int64Var(&every, "every", 0, "keep one call of `N`")
	f.StringVar(&share, "share", "", "keep this `share` of the calls, such as 1%")
	f.Uint64Var(&seed, "seed", 1, "`seed` of the choice by chance")
	return cmd
}

func sampled(every int64, share string, seed uint64) (*part, error) {
	n := int64(0)
	switch {
	case (every != 0) == (share != ""):
		return nil, usagef("sample: want --every N or --share P")
	case share == "":
		if every < 1 {
			return nil, usagef("sample: --every %d: want at least 1", every)
		}
		return &part{note: "sampled", what: fmt.Sprintf("one call of %d", every), keep: func(row datasets.Row) (bool, error) {
			n++
			return datasets.CallOf(row, n-1)%every == 0, nil
		}}, nil
	}
	ratio, err := unit.Parse(share, "ratio")
	if err != nil || !(ratio > 0 && ratio <= 1) {
		return nil, usagef("sample: --share %q: want a share above 0, such as 1%%", share)
	}
	return &part{note: "sampled", what: fmt.Sprintf("%s of the calls, seed %d", share, seed), keep: func(row datasets.Row) (bool, error) {
		n++
		// Every attempt of a call has the same chance.
		chance := rand.New(rand.NewPCG(seed, uint64(datasets.CallOf(row, n-1)))) //nolint:gosec // not for secrets
		return chance.Float64() < ratio, nil
	}}, nil
}
