package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/disk"
)

func createDiskCommand() *cobra.Command {
	const mebibyte, usual = 1 << 20, 256
	var mebibytes int64
	cmd := single("create-disk NODE/NAME", "Give a node a disk of its own, for volumes of class "+lab.DiskClass,
		(*lab.Lab).Disks, func(disks lab.Disks, ctx context.Context, name string) error {
			return disks.Create(ctx, name, mebibytes*mebibyte)
		})
	cmd.Flags().Int64Var(&mebibytes, "mib", usual, "size in MiB")
	return cmd
}

func slowDiskCommand() *cobra.Command {
	const usual = 200 * time.Millisecond
	var flush time.Duration
	cmd := single("slow-disk NODE/NAME", "Make every flush of a disk slow",
		(*lab.Lab).Disks, func(disks lab.Disks, ctx context.Context, name string) error {
			return disks.Slow(ctx, name, flush)
		})
	cmd.Flags().DurationVar(&flush, "flush", usual, "how long a flush takes")
	return cmd
}

// disksCommand is what the first disk starts as a process of its own.
func disksCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:    "disks",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return disk.Serve(cmd.Context(), disk.Store{Dir: dir})
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder of the disks' images")
	return cmd
}
