package members

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
)

// Act is what a command does with the members of the cluster that its first argument names; dry is whether to say it only.
type Act func(cmd *cobra.Command, c *Cluster, args []string, dry bool) error

// Acting has a command open tunnels to the members, do that, and close them, and adds the flags that go with it.
func Acting(cmd *cobra.Command, flags *genericclioptions.ConfigFlags, act Act) *cobra.Command {
	var secret string
	var dry bool
	AddSecretFlag(cmd, &secret)
	AddDryRunFlag(cmd, &dry)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		access, err := reach.Open(flags)
		if err != nil {
			return err
		}
		access.Secret = secret
		c, _, err := OpenNamed(cmd.Context(), access, args[0])
		if err != nil {
			return err
		}
		defer c.Close()
		return act(cmd, c, args, dry)
	}
	return cmd
}

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
