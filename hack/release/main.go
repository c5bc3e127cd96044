// Command release makes what a release page carries, and pushes it. The Makefile runs it: see docs/release.md.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{Use: "release", Short: "Make a release", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(
		checkCommand(), chartCommand(), imageCommand(), licensesCommand(), pluginCommand(), packCommand(), notesCommand(), sumsCommand(),
		pushCommand(), latestCommand(), pinCommand(), digestsCommand(),
	)
	return root
}

// made is the time that everything in a release has: that of its commit, in seconds since 1970.
func made() (time.Time, error) {
	const variable = "SOURCE_DATE_EPOCH"
	seconds, err := strconv.ParseInt(os.Getenv(variable), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: want the time of the commit in seconds since 1970: %w", variable, err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// require has a command refuse to run without these flags.
func require(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		if err := cmd.MarkFlagRequired(flag); err != nil {
			panic(err) // The caller has defined it a few lines above.
		}
	}
}
