package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
)

func statusCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "status NAME",
		Short: "Show a cluster, its members and its backups",
		Example: `  # What is there, and what is wrong with it
  kubectl etcd status example

  # For programs
  kubectl etcd status example -o json`,
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
			found, err := look(cmd.Context(), access, args[0])
			if err != nil {
				return err
			}
			return output.Tell(streams, format, found)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "", "json or yaml, for programs")
	return cmd
}

// look gathers what the API server and the members say.
func look(ctx context.Context, access *reach.Access, name string) (*report.Cluster, error) {
	seen, err := access.Cluster(ctx, name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, reach.AskTimeout)
	defer cancel()
	answers, problem := access.Ask(ctx, seen)
	if problem != nil {
		seen.Problems = append(seen.Problems, "the members were not asked, so this is what the operator saw last: "+problem.Error())
	}
	if seen.PodsUnlisted == nil {
		answers = report.WithPodless(seen.Object, seen.Pods, answers)
	}
	return report.Of(seen.Object, answers, seen.Backups, seen.Problems, time.Now()), nil
}
