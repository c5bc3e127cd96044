package members

import (
	"fmt"

	"github.com/spf13/cobra"
)

// AddSecretFlag adds the flag that says which certificate members are talked to with.
func AddSecretFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "secret", "", "the Secret with the certificate to talk to members with (default NAME-client)")
}

// AddDryRunFlag adds the flag with which nothing is changed.
func AddDryRunFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "dry-run", false, "say what would be done, and do nothing")
}

// Args is cobra's RangeArgs, with words.
func Args(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s takes %s, and was given %d arguments; see %s --help", cmd.CommandPath(), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}
