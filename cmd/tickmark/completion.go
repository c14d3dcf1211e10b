package main

import "github.com/spf13/cobra"

// complete offers words for a flag in the shell.
func complete(cmd *cobra.Command, flag string, words []string) {
	// The only error is a flag that is not there, which no user could mend.
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)); err != nil {
		panic(err)
	}
}

// completeFirst offers words for the first argument, and files for the others.
func completeFirst(cmd *cobra.Command, words []string) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
