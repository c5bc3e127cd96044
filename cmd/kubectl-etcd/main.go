// Command kubectl-etcd is a plugin of kubectl: it shows what the members of an EtcdCluster say of themselves, beside what the operator
// says of it. It needs no operator that runs, and changes nothing unless told to.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func main() {
	// client-go writes to stderr when a tunnel is closed while there is something in it.
	utilruntime.ErrorHandlers = nil
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	err := newCommand(streams).ExecuteContext(ctx)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
