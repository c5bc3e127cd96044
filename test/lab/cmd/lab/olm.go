package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/test/lab"
)

func bundleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "bundle NAME FOLDER",
		Short: "Build an image of an OLM bundle, and make it available to the cluster",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			return running.OLM().LoadBundle(cmd.Context(), args[0], args[1])
		},
	}
}

func catalogCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "catalog NAME FOLDER",
		Short: "Build an image that serves a file-based catalog, and make it available to the cluster",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			return running.OLM().LoadCatalog(cmd.Context(), args[0], args[1], cmd.ErrOrStderr())
		},
	}
}

func printOLM(out io.Writer, manager lab.RunningOLM) error {
	text := fmt.Sprintf("# OLM %s in namespace %s; operators for all namespaces go to %s\n",
		manager.Version, lab.OLMNamespace, lab.OperatorNamespace)
	text += fmt.Sprintf("# operator-sdk scorecard needs --untar-image=%s --storage-image=%s\n",
		manager.UntarImage, manager.StorageImage)
	_, err := io.WriteString(out, text+environment(manager.Env))
	return err
}
