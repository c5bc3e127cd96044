package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/pki"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/policies/enforce"
)

func main() {
	dir := flag.String("pki", "", "folder of the lab's certificates")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *dir)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "policies:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string) error {
	certs, err := pki.Ensure(dir)
	if err != nil {
		return err
	}
	client, err := controlplane.Client(certs)
	if err != nil {
		return err
	}
	return enforce.Serve(ctx, &enforce.Cluster{Client: client, Server: controlplane.Server, Log: os.Stderr})
}
