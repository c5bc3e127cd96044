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
	faults, disks, addons := (*lab.Lab).Faults, (*lab.Lab).Disks, (*lab.Lab).Addons
	fault.AddCommand(
		single("kill-node NODE", "End all processes of a node at once, as a power cut does", faults, lab.Faults.KillNode),
		single("stop-node NODE", "End a node's agents in an orderly way; its containers run on", faults, lab.Faults.StopNode),
		single("isolate-node NODE", "Pull a node's cable", faults, lab.Faults.IsolateNode),
		single("heal-node NODE", "Undo whatever was done to a node", faults, lab.Faults.HealNode),
		double("partition NODE NODE", "Drop all packets between two nodes and their pods",
			faults, lab.Faults.PartitionNodes),
		double("partition-one-way FROM TO", "Drop what one node and its pods send to another",
			faults, lab.Faults.PartitionOneWay),
		slowLinkCommand(),
		single("fast-link NODE", "Undo slow-link", faults, lab.Faults.FastLink),
		single("kill "+container, "End a container's processes with SIGKILL", faults, lab.Faults.KillContainer),
		single("freeze "+container, "Stop a container's processes with SIGSTOP", faults, lab.Faults.FreezeContainer),
		single("thaw "+container, "Let a frozen container go on", faults, lab.Faults.ThawContainer),
		single("wipe-volume "+claim, "Remove all that is in a volume", faults, lab.Faults.WipeVolume),
		single("corrupt-wal "+claim, "Flip bytes in the newest segment of an etcd member's log",
			faults, lab.Faults.CorruptWAL),
		single("corrupt-db "+claim, "Flip bytes in an etcd member's database file", faults, lab.Faults.CorruptDB),
		double("diverge-member "+claim+" TEXT", "Change a value in an etcd member's database file, which has that text",
			faults, lab.Faults.DivergeMember),
		single("break-image IMAGE", "Make the registry deny an image", faults, lab.Faults.BreakImage),
		single("mend-image IMAGE", "Undo break-image", faults, lab.Faults.MendImage),
		single("break-tags REPOSITORY", "Make the registry deny all tags of a repository", faults, lab.Faults.BreakTags),
		single("mend-tags REPOSITORY", "Undo break-tags", faults, lab.Faults.MendTags),
		double("remove-image NODE IMAGE", "Remove an image from a node, which must pull it again",
			faults, lab.Faults.RemoveImage),
		alone("stop-api-server", "End the Kubernetes API server with SIGKILL", faults, lab.Faults.StopAPIServer),
		alone("start-api-server", "Undo stop-api-server", faults, lab.Faults.StartAPIServer),
		jumpClockCommand(),
		alone("restore-clock", "Undo jump-clock", faults, lab.Faults.RestoreClock),
		delayVolumesCommand(),
		createDiskCommand(),
		single("remove-disk NODE/NAME", "Take a disk out of its node", disks, lab.Disks.Remove),
		single("fill-disk NODE/NAME", "Take all room on a disk", disks, lab.Disks.Fill),
		single("free-disk NODE/NAME", "Give back the room that fill-disk took", disks, lab.Disks.Free),
		slowDiskCommand(),
		single("fast-disk NODE/NAME", "Undo slow-disk", disks, lab.Disks.Fast),
		single("stop-addon NAME", "End an addon's server", addons, lab.Addons.Stop),
		single("freeze-addon NAME", "Stop an addon's server with SIGSTOP", addons, lab.Addons.Freeze),
		cutAddonCommand(),
		single("fill-addon NAME", "Take all room on an addon's disk", addons, lab.Addons.Fill),
		single("seal-addon NAME", "Refuse to write to an addon's bucket", addons, lab.Addons.Seal),
		single("heal-addon NAME", "Undo whatever was done to an addon", addons, lab.Addons.Heal),
	)
	return fault
}

// alone, single and double make commands that call a method of a part of the running lab, with that many arguments.
func alone[Part any](use, short string, of func(*lab.Lab) Part, do func(Part, context.Context) error) *cobra.Command {
	return onLab(use, short, 0, of, func(part Part, ctx context.Context, _ []string) error { return do(part, ctx) })
}

func single[Part any](
	use, short string, of func(*lab.Lab) Part, do func(Part, context.Context, string) error,
) *cobra.Command {
	return onLab(use, short, 1, of, func(part Part, ctx context.Context, args []string) error {
		return do(part, ctx, args[0])
	})
}

func double[Part any](
	use, short string, of func(*lab.Lab) Part, do func(Part, context.Context, string, string) error,
) *cobra.Command {
	const two = 2
	return onLab(use, short, two, of, func(part Part, ctx context.Context, args []string) error {
		return do(part, ctx, args[0], args[1])
	})
}

func onLab[Part any](
	use, short string, args int, of func(*lab.Lab) Part, do func(Part, context.Context, []string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(args),
		RunE: func(cmd *cobra.Command, args []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			return do(of(running), cmd.Context(), args)
		},
	}
}

func jumpClockCommand() *cobra.Command {
	const usual = time.Minute
	var by time.Duration
	cmd := alone("jump-clock", "Move this machine's clock", (*lab.Lab).Faults,
		func(faults lab.Faults, ctx context.Context) error { return faults.JumpClock(ctx, by) })
	cmd.Flags().DurationVar(&by, "by", usual, "how far forward; negative for back")
	return cmd
}

func delayVolumesCommand() *cobra.Command {
	var by time.Duration
	cmd := alone("delay-volumes", "Make new volumes of class "+lab.SlowClass+" take so long", (*lab.Lab).Faults,
		func(faults lab.Faults, ctx context.Context) error { return faults.DelayVolumes(ctx, by) })
	cmd.Flags().DurationVar(&by, "by", lab.SlowDelay, "how long a volume takes, in whole seconds")
	return cmd
}
