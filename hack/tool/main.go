package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
)

const usage = `usage: tool [--platform OS/ARCHITECTURE] NAME

Builds a pinned program if needed, and prints its path. NAME is a program (controller-gen, kube-apiserver, etcd), a
program of one tool of several that have it (etcd37/etcdctl), or a tool of hack/tools, whose folder is printed. For
another platform than this machine's it is always a tool, and its folder`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "tool:", err)
		os.Exit(1)
	}
}

// run prints to out the path of the program that the arguments name. Progress gets lines before and after a build.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("tool", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	platform := flags.String("platform", "", "")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		return errors.New(usage)
	}
	builder, err := build.New(progress)
	if err != nil {
		return err
	}
	path, err := find(ctx, builder, *platform, flags.Arg(0))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, path)
	return err
}

func find(ctx context.Context, builder *build.Builder, platform, name string) (string, error) {
	if platform == "" {
		return builder.Find(ctx, name)
	}
	tool, err := builder.EnsureFor(ctx, platform, name)
	return tool.Dir, err
}
