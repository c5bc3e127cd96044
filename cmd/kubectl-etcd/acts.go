package main

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/backup"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/ctl"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/defrag"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/moveleader"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/promote"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/restore"
)

// addActs adds the commands that change something. Each takes the name of an EtcdCluster first.
func addActs(root *cobra.Command, flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) {
	for _, command := range []func(*genericclioptions.ConfigFlags, genericiooptions.IOStreams) *cobra.Command{
		moveleader.Command, defrag.Command, backup.Command, ctl.Command, restore.Command, promote.Command,
	} {
		cmd := command(flags, streams)
		cmd.ValidArgsFunction = clusterNames(flags)
		root.AddCommand(cmd)
	}
}
