package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/link"
)

func slowLinkCommand() *cobra.Command {
	var fault link.Fault
	cmd := single("slow-link NODE", "Make the link of a node slow and lossy, in each direction",
		(*lab.Lab).Faults, func(faults lab.Faults, ctx context.Context, node string) error {
			return faults.SlowLink(ctx, node, fault.Latency, fault.Loss)
		})
	linkFlags(cmd, &fault)
	return cmd
}

// linkCommand is what slow-link starts as a process of its own, in the node's network namespace.
func linkCommand() *cobra.Command {
	var fault link.Fault
	cmd := &cobra.Command{
		Use:    "link",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return link.Serve(cmd.Context(), fault) },
	}
	linkFlags(cmd, &fault)
	return cmd
}

func linkFlags(cmd *cobra.Command, fault *link.Fault) {
	const usual = 50 * time.Millisecond
	cmd.Flags().DurationVar(&fault.Latency, "latency", usual, "how late each packet is")
	cmd.Flags().Float64Var(&fault.Loss, "loss", 0, "share of packets that are lost, from 0 to 1")
}
