package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/test/lab"
)

func faultCommand() *cobra.Command {
	fault := &cobra.Command{Use: "fault", Short: "Break something, or heal it"}
	const container, claim = "NAMESPACE/POD/CONTAINER", "NAMESPACE/PVC"
	fault.AddCommand(
		single("kill-node NODE", "End all processes of a node at once, as a power cut does", (*lab.Lab).KillNode),
		single("stop-node NODE", "End a node's agents in an orderly way; its containers run on", (*lab.Lab).StopNode),
		single("isolate-node NODE", "Pull a node's cable", (*lab.Lab).IsolateNode),
		single("heal-node NODE", "Undo whatever was done to a node", (*lab.Lab).HealNode),
		double("partition NODE NODE", "Drop all packets between two nodes and their pods", (*lab.Lab).PartitionNodes),
		double("partition-one-way FROM TO", "Drop what one node and its pods send to another",
			(*lab.Lab).PartitionOneWay),
		slowLinkCommand(),
		single("fast-link NODE", "Undo slow-link", (*lab.Lab).FastLink),
		single("kill "+container, "End a container's processes with SIGKILL", (*lab.Lab).KillContainer),
		single("freeze "+container, "Stop a container's processes with SIGSTOP", (*lab.Lab).FreezeContainer),
		single("thaw "+container, "Let a frozen container go on", (*lab.Lab).ThawContainer),
		single("wipe-volume "+claim, "Remove all that is in a volume", (*lab.Lab).WipeVolume),
		single("corrupt-wal "+claim, "Flip bytes in the newest segment of an etcd member's log", (*lab.Lab).CorruptWAL),
		single("corrupt-db "+claim, "Flip bytes in an etcd member's database file", (*lab.Lab).CorruptDB),
		single("break-image IMAGE", "Make the registry deny an image", (*lab.Lab).BreakImage),
		single("mend-image IMAGE", "Undo break-image", (*lab.Lab).MendImage),
		double("remove-image NODE IMAGE", "Remove an image from a node, which must pull it again", (*lab.Lab).RemoveImage),
		alone("stop-api-server", "End the Kubernetes API server with SIGKILL", (*lab.Lab).StopAPIServer),
		alone("start-api-server", "Undo stop-api-server", (*lab.Lab).StartAPIServer),
		jumpClockCommand(),
		alone("restore-clock", "Undo jump-clock", (*lab.Lab).RestoreClock),
		delayVolumesCommand(),
		createDiskCommand(),
		single("remove-disk NODE/NAME", "Take a disk out of its node", (*lab.Lab).RemoveDisk),
		single("fill-disk NODE/NAME", "Take all room on a disk", (*lab.Lab).FillDisk),
		single("free-disk NODE/NAME", "Give back the room that fill-disk took", (*lab.Lab).FreeDisk),
		slowDiskCommand(),
		single("fast-disk NODE/NAME", "Undo slow-disk", (*lab.Lab).FastDisk),
		single("stop-addon NAME", "End an addon's server", (*lab.Lab).StopAddon),
		single("freeze-addon NAME", "Stop an addon's server with SIGSTOP", (*lab.Lab).FreezeAddon),
		cutAddonCommand(),
		single("fill-addon NAME", "Take all room on an addon's disk", (*lab.Lab).FillAddon),
		single("seal-addon NAME", "Refuse to write to an addon's bucket", (*lab.Lab).SealAddon),
		single("heal-addon NAME", "Undo whatever was done to an addon", (*lab.Lab).HealAddon),
	)
	return fault
}

func alone(use, short string, do func(*lab.Lab, context.Context) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			return do(running, cmd.Context())
		},
	}
}

func single(use, short string, do func(*lab.Lab, context.Context, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			return do(running, cmd.Context(), args[0])
		},
	}
}

func double(use, short string, do func(*lab.Lab, context.Context, string, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			return do(running, cmd.Context(), args[0], args[1])
		},
	}
}

func jumpClockCommand() *cobra.Command {
	const usual = time.Minute
	var by time.Duration
	cmd := alone("jump-clock", "Move this machine's clock", func(l *lab.Lab, ctx context.Context) error {
		return l.JumpClock(ctx, by)
	})
	cmd.Flags().DurationVar(&by, "by", usual, "how far forward; negative for back")
	return cmd
}

func delayVolumesCommand() *cobra.Command {
	var by time.Duration
	cmd := alone("delay-volumes", "Make new volumes of class "+lab.SlowClass+" take so long",
		func(l *lab.Lab, ctx context.Context) error { return l.DelayVolumes(ctx, by) })
	cmd.Flags().DurationVar(&by, "by", lab.SlowDelay, "how long a volume takes, in whole seconds")
	return cmd
}
