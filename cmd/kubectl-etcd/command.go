package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

// newCommand is "kubectl etcd" with all that it can do.
func newCommand(streams genericiooptions.IOStreams) *cobra.Command {
	flags := genericclioptions.NewConfigFlags(true)
	root := &cobra.Command{
		Use:   "kubectl-etcd",
		Short: "Look at etcd clusters that etcd-operator runs, and act on them",
		Long: `Look at EtcdClusters as their members see themselves, and act on them: kubectl etcd talks to each member, through
the Kubernetes API server, and works while the operator does not.`,
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl etcd"},
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
	}
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	flags.AddFlags(root.PersistentFlags())
	root.AddCommand(statusCommand(flags, streams))
	root.AddCommand(doctorCommand(flags, streams))
	root.AddCommand(diagnoseCommand(flags, streams))
	root.AddCommand(planCommand(flags, streams))
	root.AddCommand(autopilotCommand(flags, streams))
	addActs(root, flags, streams)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", terminal.Columns)))
	fit(root)
	return root
}

// fit has what is said of a command, and of those below it, fit on a terminal.
func fit(cmd *cobra.Command) {
	var paragraphs []string
	for paragraph := range strings.SplitSeq(cmd.Long, "\n\n") {
		paragraphs = append(paragraphs, output.Wrap(paragraph))
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
	for _, below := range cmd.Commands() {
		fit(below)
	}
}

// clusterNames completes the name of an EtcdCluster.
func clusterNames(flags *genericclioptions.ConfigFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		access, err := reach.Open(flags)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names, err := access.Names(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
