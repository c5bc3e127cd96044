// Command prove prints what the operator may do on the lab, how often it has done it since some time, and what of that is wrong. The
// stories do that themselves when they end (`make test-lab`); this does it again, without them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/e2e/rights"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

func main() {
	since := flag.String("since", "", "the `time` from which on requests count (RFC 3339); all that were noted by default")
	flag.Parse()
	if err := prove(*since); err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
		os.Exit(1)
	}
}

func prove(since string) error {
	begin := time.Time{}
	if since != "" {
		var err error
		if begin, err = time.Parse(time.RFC3339, since); err != nil {
			return fmt.Errorf("read -since: %w", err)
		}
	}
	running, err := lab.Attach()
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", running.Kubeconfig())
	if err != nil {
		return fmt.Errorf("read %s: %w", running.Kubeconfig(), err)
	}
	cluster, err := client.New(config, client.Options{})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	files, err := running.AuditLogs()
	if err != nil {
		return err
	}
	granted, err := rights.Operators(context.Background(), cluster)
	if err != nil {
		return err
	}
	ledger, err := rights.Account(granted, files, begin)
	if err != nil {
		return err
	}
	fmt.Print(ledger)
	if wrongs := ledger.Wrongs(true, rights.Excused()); len(wrongs) > 0 {
		return fmt.Errorf("the operator\n  %s", strings.Join(wrongs, "\n  "))
	}
	return nil
}
