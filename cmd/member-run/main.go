// Command member-run guards every start of etcd in a member's pod; see the package memberrun.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/etcdpilot/etcd-operator/internal/memberrun"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

func main() {
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	if err := run(os.Args[1:]); err != nil {
		slog.Error("member-run failed", "error", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	// As the container's first process it gets no default action for signals.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	switch {
	case len(args) == 2 && args[0] == "install":
		return memberrun.Install(args[1])
	case len(args) == 1 && args[0] == "start":
		return memberrun.Start(ctx, memberrun.ContainerPaths())
	case len(args) == 1 && args[0] == "version":
		fmt.Println(version.Operator)
		return nil
	}
	return fmt.Errorf("usage: member-run install DIR | member-run start | member-run version; got %q", args)
}
