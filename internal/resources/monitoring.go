package resources

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/alerts"
)

// PodMonitorKind is what tells Prometheus Operator of pods with metrics.
var PodMonitorKind = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "PodMonitor"}

// PrometheusRuleKind is what tells Prometheus Operator of alerts.
var PrometheusRuleKind = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "PrometheusRule"}

// AlertsName is the name of the PrometheusRule of each namespace with EtcdClusters.
const AlertsName = "etcd-operator-alerts"

// What Prometheus takes of one member, each several times what members have. Who may create pods in the namespace could give them a cluster's
// labels, and have them serve so much that a Prometheus which others use, too, runs out of memory. If a pod has more, all its metrics are left out.
const (
	// maxSamples is how many series: those of etcd are about 1,500.
	maxSamples = 10_000
	// maxLabels is how many labels a series has, with those that Prometheus adds, and the others how long these are in bytes.
	maxLabels, maxLabelName, maxLabelValue = 40, 128, 1024
	// maxMetrics is how large the answer is: 800 bytes for each series.
	maxMetrics = "8MB"
)

// PodMonitorName is the name of the PodMonitor.
func PodMonitorName(cluster string) string { return cluster }

// Monitored reports whether the spec asks for objects of Prometheus Operator.
func Monitored(c *v1beta2.EtcdCluster) bool {
	return c.Spec.Monitoring == nil || c.Spec.Monitoring.Mode != v1beta2.MonitoringOff
}

// MonitoringLabels are on all objects of Prometheus Operator that the operator makes.
func MonitoringLabels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": "etcd", "app.kubernetes.io/managed-by": FieldOwner}
}

// PodMonitor has Prometheus collect the members' metrics, with the labels by which the alerts tell clusters and members apart.
func PodMonitor(c *v1beta2.EtcdCluster) *unstructured.Unstructured {
	u := podMonitor(c.Namespace, PodMonitorName(c.Name))
	u.SetOwnerReferences([]metav1.OwnerReference{Owner(c)})
	return u
}

// podMonitor is that of the cluster of the same name.
func podMonitor(namespace, name string) *unstructured.Unstructured {
	selected := map[string]any{}
	for key, value := range ClusterSelector(name) {
		selected[key] = value
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"selector":              map[string]any{"matchLabels": selected},
		"podTargetLabels":       []any{LabelCluster, LabelNode},
		"podMetricsEndpoints":   []any{map[string]any{"port": metricsPort}},
		"sampleLimit":           int64(maxSamples),
		"labelLimit":            int64(maxLabels),
		"labelNameLengthLimit":  int64(maxLabelName),
		"labelValueLengthLimit": int64(maxLabelValue),
		"bodySizeLimit":         maxMetrics,
	}}}
	u.SetGroupVersionKind(PodMonitorKind)
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetLabels(clusterLabels(name))
	return u
}

// ClusterAlerts are the alerts about the clusters of a namespace. Each cluster that wants them owns them, so that they go with the last one.
func ClusterAlerts(c *v1beta2.EtcdCluster) (*unstructured.Unstructured, error) {
	u, err := clusterAlerts(c.Namespace)
	if err != nil {
		return nil, err
	}
	u.SetOwnerReferences([]metav1.OwnerReference{coOwner(c)})
	return u, nil
}

func clusterAlerts(namespace string) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(alerts.ForClusters(namespace, alerts.Timing{}))
	if err != nil {
		return nil, fmt.Errorf("encode the alerts: %w", err)
	}
	var groups []any
	if err := json.Unmarshal(text, &groups); err != nil {
		return nil, fmt.Errorf("decode the alerts: %w", err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"groups": groups}}}
	u.SetGroupVersionKind(PrometheusRuleKind)
	u.SetNamespace(namespace)
	u.SetName(AlertsName)
	u.SetLabels(MonitoringLabels())
	return u, nil
}

// coOwner is the reference of one of several owners: only one could be the controller.
func coOwner(c *v1beta2.EtcdCluster) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: v1beta2.GroupVersion.String(), Kind: "EtcdCluster", Name: c.Name, UID: c.UID}
}

// CoOwners are the owners of an object with the cluster among them, or without it.
func CoOwners(have []metav1.OwnerReference, c *v1beta2.EtcdCluster, with bool) []metav1.OwnerReference {
	owners := slices.DeleteFunc(slices.Clone(have), func(o metav1.OwnerReference) bool { return o.UID == c.UID })
	if with {
		owners = append(owners, coOwner(c))
	}
	return owners
}

// OwnedBy reports whether an owner has that UID.
func OwnedBy(owners []metav1.OwnerReference, uid types.UID) bool {
	return slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return o.UID == uid })
}

// AsMade reports whether a PodMonitor or a PrometheusRule has the labels and the spec that the operator gives one of that name. Others may
// have added labels: many Prometheus select by one.
func AsMade(have *unstructured.Unstructured) bool {
	want := podMonitor(have.GetNamespace(), have.GetName())
	if have.GetKind() == PrometheusRuleKind.Kind {
		rule, err := clusterAlerts(have.GetNamespace())
		if err != nil || have.GetName() != AlertsName {
			return false
		}
		want = rule
	}
	return contains(have.GetLabels(), want.GetLabels()) && len(SpecPatch(have, want)) == 0
}
