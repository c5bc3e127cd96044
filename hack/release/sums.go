package main

import (
	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/hack/release/sums"
)

func sumsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "sums FOLDER", Short: "Write the checksums of the files in a folder", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return sums.Write(args[0]) },
	}
}
