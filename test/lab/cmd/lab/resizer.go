package main

import (
	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/resizer"
)

// resizerCommand is what up starts as a process of its own.
func resizerCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:    "resizer",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			certs, err := pki.Ensure(dir)
			if err != nil {
				return err
			}
			client, err := controlplane.Client(certs)
			if err != nil {
				return err
			}
			client.Timeout = 0 // A watch has no end.
			return resizer.Resizer{
				Client: client, Server: controlplane.Server, Class: lab.GrowingClass, Log: cmd.ErrOrStderr(),
			}.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&dir, "pki", "", "folder of the lab's certificates")
	return cmd
}
