// Command kubectl-etcd is a plugin of kubectl: it shows what the members of an EtcdCluster say of themselves, beside what the operator
// says of it. It needs no operator that runs, and changes nothing unless told to.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/ctl"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

func main() {
	// client-go writes to stderr when a tunnel is closed while there is something in it.
	utilruntime.ErrorHandlers = nil
	ctx, stop := signal.NotifyContext(context.Background(), ctl.Signals()...)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	err := newCommand(streams).ExecuteContext(ctx)
	stop()
	var ended *ctl.Exit
	if errors.As(err, &ended) { // it has said why
		os.Exit(ended.Code)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, output.Wrap(terminal.Clean("error: "+err.Error())))
		os.Exit(1)
	}
}
