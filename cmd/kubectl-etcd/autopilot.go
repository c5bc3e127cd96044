package main

import (
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/autopilot"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
)

func autopilotCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "autopilot NAME",
		Short: "Say what Auto Pilot may do, holds back, and did lately",
		Long: `Say how far the operator goes by itself in a cluster, when, and what it has found to do and does not do, with
the reason and what has to be so before it does. What it did lately is in events, which Kubernetes keeps for an
hour. It changes nothing.`,
		Example: `  # Why does it not defragment?
  kubectl etcd autopilot example`,
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
			cluster, err := access.Object(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			var problems []string
			events, err := access.Events(cmd.Context(), cluster)
			if err != nil {
				problems = append(problems, "what it did lately is not known: "+err.Error())
			}
			found := autopilot.Of(cluster, events, problems, time.Now())
			return output.Tell(streams, format, found)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "", "json or yaml, for programs")
	return cmd
}
