// Command certmanager runs cert-manager's own controllers, as many of them as Certificates of Issuers of the types CA and SelfSigned need.
// Upstream's program cannot be built from the Go module proxy, because it is a module that replaces another by a folder beside it. This
// is a module of its own because cert-manager goes with an earlier client-go than the operator.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	// Each of these registers a controller.
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	// And each of these a type of issuer.
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"golang.org/x/sync/errgroup"
)

// Upstream's defaults, from internal/apis/config/controller/v1alpha1/defaults.go.
const (
	shortestBackoff = time.Hour
	longestBackoff  = 32 * time.Hour
	workers         = 5
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file by which the controllers reach the API server")
	namespace := flag.String("cluster-resource-namespace", "cert-manager", "where the Secrets of ClusterIssuers are")
	flag.Parse()
	logf.InitLogs()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *kubeconfig, *namespace)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "certmanager:", err)
		os.Exit(1)
	}
}

// run runs all controllers until the context ends.
func run(ctx context.Context, kubeconfig, namespace string) error {
	group, ctx := errgroup.WithContext(ctx)
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig: kubeconfig, KubernetesAPIQPS: 20, KubernetesAPIBurst: 50,
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: namespace},
		CertificateOptions: controller.CertificateOptions{
			CertificateRequestMinimumBackoffDuration: shortestBackoff, CertificateRequestMaximumBackoffDuration: longestBackoff,
		},
	})
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	for name, construct := range controller.Known() {
		one, err := construct(factory)
		if err != nil {
			return fmt.Errorf("controller %s: %w", name, err)
		}
		group.Go(func() error {
			if err := one.Run(workers, ctx); err != nil {
				return fmt.Errorf("controller %s: %w", name, err)
			}
			return nil
		})
	}
	// Once all controllers have said what they watch.
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	if err := group.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
