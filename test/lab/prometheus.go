package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/programs"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/prometheus"
)

// What of Prometheus is in the cluster.
const (
	// PrometheusNamespace has the Prometheus Operator, and the Prometheus that it runs.
	PrometheusNamespace = prometheus.Namespace
	// PrometheusAccount is the ServiceAccount there whose token Prometheus shows where a ServiceMonitor says so. It may read no metrics yet
	// for which one needs a right in Kubernetes.
	PrometheusAccount = prometheus.Account
	// PrometheusProxy is the path at the API server below which Prometheus's HTTP API is, /api/v1 of Prometheus and so on.
	PrometheusProxy = prometheus.Proxy
)

// prometheusTimeout bounds the start of Prometheus once it is built.
const prometheusTimeout = 4 * time.Minute

// Prometheus is a Prometheus that the Prometheus Operator runs, for the ServiceMonitors, PodMonitors and PrometheusRules of all namespaces.
type Prometheus struct{ lab *Lab }

// Prometheus returns the lab's Prometheus, whether or not it runs.
func (l *Lab) Prometheus() Prometheus { return Prometheus{l} }

// Start puts the Prometheus Operator and a Prometheus into the cluster, which are built first if they never were, and waits until they work.
// They run until Down; being pods, they need no help to be back after an outage. If they run already, nothing changes. Out gets lines that
// tell of progress; nil discards them.
func (p Prometheus) Start(ctx context.Context, out io.Writer) error {
	builder, err := builder(out)
	if err != nil {
		return err
	}
	tools, err := programs.EnsureTools(ctx, builder, prometheus.Tools())
	if err != nil {
		return err
	}
	module, err := builder.ModuleDir(ctx, build.PrometheusOperator, prometheus.Module)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, prometheusTimeout, fmt.Errorf("not ready within %v", prometheusTimeout))
	defer cancel()
	if err := pushAll(ctx, prometheus.Images(tools)); err != nil {
		return err
	}
	if err := p.install(ctx, prometheus.CRDs(module), tools); err != nil {
		return fmt.Errorf("put Prometheus into the cluster: %w", err)
	}
	return p.wait(ctx)
}

// install applies all objects, of which the CRDs are in a folder.
func (p Prometheus) install(ctx context.Context, crds string, tools map[string]build.Tool) error {
	if _, err := p.lab.kubectl(ctx, nil, "apply", "--server-side", "-f", crds); err != nil {
		return err
	}
	if _, err := p.lab.kubectl(ctx, nil, "wait", "--for=condition=Established", forever, "-f", crds); err != nil {
		return err
	}
	objects, err := prometheus.Manifests(tools)
	if err != nil {
		return err
	}
	_, err = p.lab.kubectl(ctx, objects, "apply", "--server-side", "-f", "-")
	return err
}

// wait waits until the operator has started Prometheus, and Prometheus answers.
func (p Prometheus) wait(ctx context.Context) error {
	if err := p.lab.rolledOut(ctx, prometheus.Namespace, "deployment/"+prometheus.Operator); err != nil {
		return err
	}
	_, err := p.lab.kubectl(ctx, nil, "wait", "--namespace="+prometheus.Namespace, "prometheus/"+prometheus.Name,
		"--for=condition=Available", forever)
	if err != nil {
		return fmt.Errorf("wait for Prometheus: %w", errors.Join(err, p.lab.explain(ctx, prometheus.Namespace)))
	}
	return process.Poll(ctx, func(ctx context.Context) error {
		_, err := p.lab.kubectl(ctx, nil, "get", "--raw", prometheus.Proxy+"/-/ready")
		return err
	})
}
