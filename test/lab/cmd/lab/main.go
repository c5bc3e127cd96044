package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := rootCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "lab",
		Short:         "A real multi-node Kubernetes on this machine, and ways to break it",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		upCommand(), downCommand(), statusCommand(), kubeconfigCommand(), logsCommand(), loadCommand(),
		imageCommand(), faultCommand(), registryCommand(), disksCommand(), linkCommand(), resizerCommand(),
		addonCommand(), bundleCommand(), catalogCommand(),
	)
	return root
}
