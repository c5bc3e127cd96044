package main

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/doctor"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
)

func doctorCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var format, secret string
	var hashes bool
	cmd := &cobra.Command{
		Use:   "doctor NAME",
		Short: "Say what is wrong with a cluster, and what to do",
		Long: `Look at a cluster, its members and what surrounds them, and say of each check what was found, what the
operator does about it, and what you can do. It changes nothing, and fails if anything is wrong.`,
		Example: `  # What is wrong?
  kubectl etcd doctor example

  # Have the members the same data? They read all of it
  kubectl etcd doctor example --hash

  # The same with authentication, which lets only root compare them
  kubectl etcd doctor example --hash --secret example-agent`,
		Args:              members.Args(1, 1, "the name of an EtcdCluster"),
		ValidArgsFunction: clusterNames(flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.Check(format); err != nil {
				return err
			}
			access, err := reach.Open(flags)
			if err != nil {
				return err
			}
			access.Secret = secret
			facts, err := access.Examine(cmd.Context(), args[0], hashes)
			if err != nil {
				return err
			}
			found := doctor.Examine(facts)
			if err := output.Tell(streams, format, found); err != nil {
				return err
			}
			return found.Err()
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "", "json or yaml, for programs")
	cmd.Flags().BoolVar(&hashes, "hash", false, "compare all keys of all members: each reads its whole database")
	members.AddSecretFlag(cmd, &secret)
	return cmd
}
