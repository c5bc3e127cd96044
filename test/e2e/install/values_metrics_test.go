package install

import (
	"context"
	"fmt"
	"maps"
	"strings"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/internal/alerts"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

const (
	// pool is what Prometheus calls the operator as the ServiceMonitor has it.
	pool = "serviceMonitor/" + harness.OperatorNamespace + "/etcd-operator-controller-manager-metrics-monitor/0"
	// passersby is a namespace that the NetworkPolicy does not know until it has the label.
	passersby = "install-passerby"
	// metricsPort and healthPort are the operator's. Only the kubelet is to reach the latter, which NetworkPolicies do not keep out.
	metricsPort, healthPort = 8443, 8081
)

// fence is what the metrics, and who may have them, are tried with.
type fence struct {
	prometheus promv1.API
	passerby   *harness.Passerby
}

// newFence has NetworkPolicies enforced until the story ends, and a Prometheus and a passerby run, of namespaces without the label.
func newFence(s *story) fence {
	s.t.Helper()
	must(s.t, nodes.CertManager().Start(s.t.Context(), s.t.Output()))
	must(s.t, nodes.Prometheus().Start(s.t.Context(), s.t.Output()))
	must(s.t, s.Run(s.t.Context(), "label", "namespace", lab.PrometheusNamespace, "metrics-"))
	must(s.t, nodes.NetworkPolicies().Start(s.t.Context(), s.t.Output()))
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := nodes.NetworkPolicies().Stop(ctx); err != nil {
			s.t.Error(err)
		}
	})
	prometheus, err := s.Prometheus(lab.PrometheusProxy)
	must(s.t, err)
	passerby, err := s.NewPasserby(s.t.Context(), passersby, "passerby", nil)
	must(s.t, err)
	return fence{prometheus, passerby}
}

// isMonitored wants all that the value monitoring stands for to be there, and Prometheus to have the alerts.
func (v *valued) isMonitored() {
	v.t.Helper()
	want := map[string]int{
		"servicemonitor.monitoring.coreos.com": 1, "prometheusrule.monitoring.coreos.com": 1, "certificate.cert-manager.io": 1,
		"issuer.cert-manager.io": 1, "configmap": 2,
	}
	if got := v.monitoring(); !maps.Equal(got, want) {
		v.t.Errorf("for monitoring there are %v, want %v", got, want)
	}
	must(v.t, harness.Await(v.t.Context(), "Prometheus has the operator's alerts", limit,
		harness.AlertsLoaded(v.fence.prometheus, alerts.ForOperator(alerts.Timing{}), func(promv1.AlertingRule) bool { return true })))
}

// isMonitoredNoMore wants nothing of that to be left, and Prometheus to have forgotten the operator.
func (v *valued) isMonitoredNoMore() {
	v.t.Helper()
	if got := v.monitoring(); len(got) > 0 {
		v.t.Errorf("for monitoring there are still %v", got)
	}
	v.scraped("nobody any more", func(targets []promv1.ActiveTarget) bool { return len(targets) == 0 })
}

// monitoring counts, by their kinds, the objects of the release that are there for the metrics.
func (v *valued) monitoring() map[string]int {
	v.t.Helper()
	const kinds = "servicemonitors.monitoring.coreos.com,prometheusrules.monitoring.coreos.com,certificates.cert-manager.io,issuers.cert-manager.io,configmaps"
	found := map[string]int{}
	for line := range strings.Lines(v.types(next, v.path,
		"kubectl -n "+harness.OperatorNamespace+" get "+kinds+" -l app.kubernetes.io/name=etcd-operator -o name --ignore-not-found")) {
		if kind, _, is := strings.Cut(line, "/"); is {
			found[kind]++
		}
	}
	return found
}

// isFenced wants Prometheus and the passerby to be kept out, and each to be let in to the metrics once its namespace has the label.
func (v *valued) isFenced() {
	v.t.Helper()
	const replicas = 2
	v.creates(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: mark},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "etcd-operator-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: lab.PrometheusNamespace, Name: lab.PrometheusAccount}},
	})
	v.scraped("that keeps it out", func(targets []promv1.ActiveTarget) bool {
		out := 0
		for _, target := range targets {
			if target.Health == promv1.HealthBad && (strings.Contains(target.LastError, "deadline exceeded") || strings.Contains(target.LastError, "timeout")) {
				out++
			}
		}
		return out == replicas && len(targets) == replicas
	})
	v.reaches(map[int]bool{metricsPort: false, healthPort: false})

	must(v.t, v.Run(v.t.Context(), "label", "namespace", lab.PrometheusNamespace, passersby, "metrics=enabled"))
	v.atEnd("label", "namespace", lab.PrometheusNamespace, "metrics-")
	v.reaches(map[int]bool{metricsPort: true, healthPort: false})
	v.scraped("that lets it in", func(targets []promv1.ActiveTarget) bool {
		in := 0
		for _, target := range targets {
			if target.Health == promv1.HealthGood && strings.HasPrefix(target.ScrapeURL, "https://") {
				in++
			}
		}
		return in == replicas && len(targets) == replicas
	})
}

// isOpen wants the passerby to reach all that the operator serves.
func (v *valued) isOpen() {
	v.t.Helper()
	v.reaches(map[int]bool{metricsPort: true, healthPort: true})
}

// scraped waits until Prometheus has such targets of the operator.
func (v *valued) scraped(what string, wanted func([]promv1.ActiveTarget) bool) {
	v.t.Helper()
	must(v.t, harness.Await(v.t.Context(), "Prometheus finds an operator "+what, limit, func(ctx context.Context) (string, bool) {
		targets, seen, err := harness.Targets(ctx, v.fence.prometheus, pool)
		if err != nil {
			return err.Error(), false
		}
		return seen, wanted(targets)
	}))
}

// reaches waits until the passerby connects to those ports of every operator that it is to reach, and to no others.
func (v *valued) reaches(ports map[int]bool) {
	v.t.Helper()
	for port, want := range ports {
		must(v.t, harness.Await(v.t.Context(), fmt.Sprintf("the passerby reaches port %d: %t", port, want), limit, func(ctx context.Context) (string, bool) {
			pods, err := v.Operators(ctx, harness.OperatorNamespace)
			if err != nil || len(pods) == 0 {
				return fmt.Sprintf("%d operators, %v", len(pods), err), false
			}
			for _, p := range pods {
				if err := v.fence.passerby.Connects(ctx, p.Status.PodIP, port); (err == nil) != want {
					return fmt.Sprintf("%s: %v", p.Name, err), false
				}
			}
			return "", true
		}))
	}
}
