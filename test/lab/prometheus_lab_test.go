//go:build lab

package lab_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// scrapeItself has Prometheus scrape its own pod, and calculate something from that.
const scrapeItself = `apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: itself, namespace: default}
spec:
  namespaceSelector: {matchNames: [monitoring]}
  selector: {matchLabels: {app.kubernetes.io/name: prometheus}}
  podMetricsEndpoints: [{port: web}]
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: itself, namespace: default}
spec:
  groups: [{name: itself, rules: [{record: "lab:up:sum", expr: "sum(up)"}]}]
`

// TestPrometheusScrapesItself puts Prometheus into a lab of its own, and has it scrape and calculate what objects in another namespace say. It needs root,
// and a machine without another lab.
func TestPrometheusScrapesItself(t *testing.T) {
	if owner, err := state.Owner(); err != nil || owner != "" {
		t.Skipf("this machine's lab is in %s (%v)", owner, err)
	}
	t.Setenv(state.Variable, t.TempDir())
	t.Cleanup(func() {
		if err := lab.Down(context.WithoutCancel(t.Context()), testWriter{t}); err != nil {
			t.Error(err)
		}
	})
	running, err := lab.Up(t.Context(), lab.Options{Nodes: 1, Out: testWriter{t}})
	if err != nil {
		t.Fatal(err)
	}
	start := func() (pods string) {
		if err := running.Prometheus().Start(t.Context(), testWriter{t}); err != nil {
			t.Fatal(err)
		}
		return kubectl(t, running, "", "get", "pods", "--namespace="+lab.PrometheusNamespace, "--output=jsonpath={.items[*].metadata.uid}")
	}
	before := start()
	if after := start(); after != before {
		t.Errorf("asked for again, Prometheus has other pods: %s, and had %s", after, before)
	}
	kubectl(t, running, scrapeItself, "apply", "--filename=-")
	// The kubelet takes its time to show a pod what is new in a Secret.
	const limit = 3 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	err = process.Poll(ctx, func(context.Context) error {
		out := kubectl(t, running, "", "get", "--raw", lab.PrometheusProxy+"/api/v1/query?query=lab:up:sum")
		if !strings.Contains(out, `"value":[`) || !strings.Contains(out, `,"1"]`) {
			return fmt.Errorf("the rule gives %s", out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
