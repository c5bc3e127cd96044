package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// monitored is what a user uncomments in config/default so that Prometheus Operator has the metrics scraped.
const monitored = "\ncomponents: [../prometheus/cert-manager]\n"

// DeployMonitored is Deploy with a ServiceMonitor for the operator's metrics, and a certificate for them by cert-manager. Both that and
// Prometheus Operator have to be there.
func (e *Env) DeployMonitored(ctx context.Context) error {
	return e.withMonitored(func(config string) error { return e.deployFrom(ctx, config) })
}

// RenderMonitored writes the manifests of DeployMonitored to a file.
func (e *Env) RenderMonitored(ctx context.Context, file string) error {
	return e.withMonitored(func(config string) error {
		return e.Run(ctx, "kustomize", filepath.Join(config, "default"), "--output", file)
	})
}

// withMonitored is withManifests, of which the default has a ServiceMonitor.
func (e *Env) withMonitored(use func(config string) error) error {
	return e.withManifests(func(config string) error {
		file := filepath.Join(config, "default", "kustomization.yaml")
		text, err := os.ReadFile(file) // #nosec G304 -- a copy of the repository's
		if err != nil {
			return fmt.Errorf("have the metrics scraped: %w", err)
		}
		if err := os.WriteFile(file, append(text, monitored...), 0o600); err != nil {
			return fmt.Errorf("have the metrics scraped: %w", err)
		}
		return use(config)
	})
}

// RemoveMonitored undoes what DeployMonitored does beyond Deploy, and waits until an operator without it is ready.
func (e *Env) RemoveMonitored(ctx context.Context) error {
	if err := e.Deploy(ctx); err != nil {
		return err
	}
	err := e.Run(ctx, "delete", "-n", OperatorNamespace, "--ignore-not-found",
		"configmaps,servicemonitors.monitoring.coreos.com,prometheusrules.monitoring.coreos.com,certificates.cert-manager.io,issuers.cert-manager.io", "-l", "app.kubernetes.io/name=etcd-operator")
	if err != nil {
		return err
	}
	return e.Run(ctx, "delete", "-n", OperatorNamespace, "--ignore-not-found", "secret/metrics-server-cert")
}

// Prometheus returns a client of the Prometheus that answers below a path at the API server.
func (e *Env) Prometheus(path string) (promv1.API, error) {
	config, err := clientcmd.BuildConfigFromFlags("", e.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", e.Kubeconfig, err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to Prometheus: %w", err)
	}
	connected, err := api.NewClient(api.Config{Address: config.Host + path, RoundTripper: transport})
	if err != nil {
		return nil, fmt.Errorf("connect to Prometheus: %w", err)
	}
	return promv1.NewAPI(connected), nil
}
