package resources

import (
	"regexp"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestGoldenMonitoring shows the whole objects of Prometheus Operator. Write them with -update.
func TestGoldenMonitoring(t *testing.T) {
	c := cluster(func(*v1beta2.EtcdCluster) {})
	golden(t, "pod-monitor", PodMonitor(c))
	golden(t, "cluster-alerts", alertsOf(t, c))
}

func alertsOf(t *testing.T, c *v1beta2.EtcdCluster) *unstructured.Unstructured {
	t.Helper()
	rule, err := ClusterAlerts(c)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// TestPodMonitorFindsMembers wants the PodMonitor to select what the members' pods have, and pods to have what it copies.
func TestPodMonitorFindsMembers(t *testing.T) {
	c := cluster(func(*v1beta2.EtcdCluster) {})
	pod, monitor := build(t, c, nil, PodOptions{OperatorImage: "operator", EtcdVersion: "3.6.16"}), PodMonitor(c)
	selected, _, err := unstructured.NestedStringMap(monitor.Object, "spec", "selector", "matchLabels")
	if err != nil || len(selected) == 0 || !contains(pod.Labels, selected) {
		t.Errorf("it selects %v, %v; the pod has %v", selected, err, pod.Labels)
	}
	copied, _, err := unstructured.NestedStringSlice(monitor.Object, "spec", "podTargetLabels")
	if err != nil || len(copied) != 2 {
		t.Errorf("it copies %v, %v", copied, err)
	}
	for _, label := range copied {
		if pod.Labels[label] == "" {
			t.Errorf("the pod has no label %s", label)
		}
	}
}

// TestPodMonitorIsLimited has Prometheus take no more of a pod with the labels of a member than a member has.
func TestPodMonitorIsLimited(t *testing.T) {
	spec, _, err := unstructured.NestedMap(PodMonitor(cluster(func(*v1beta2.EtcdCluster) {})).Object, "spec")
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []string{"sampleLimit", "labelLimit", "labelNameLengthLimit", "labelValueLengthLimit"} {
		if n, is := spec[limit].(int64); !is || n <= 0 {
			t.Errorf("%s is %v", limit, spec[limit])
		}
	}
	if size, _ := spec["bodySizeLimit"].(string); !regexp.MustCompile(`^[1-9][0-9]*MB$`).MatchString(size) {
		t.Errorf("bodySizeLimit is %q", size)
	}
}

// TestAsMade leaves additional labels alone, and no change of what the operator has written.
func TestAsMade(t *testing.T) {
	c := cluster(func(*v1beta2.EtcdCluster) {})
	for name, u := range map[string]*unstructured.Unstructured{"PodMonitor": PodMonitor(c), "PrometheusRule": alertsOf(t, c)} {
		t.Run(name, func(t *testing.T) {
			changed := func(change func(u *unstructured.Unstructured)) bool {
				other := u.DeepCopy()
				change(other)
				return !AsMade(other)
			}
			for title, is := range map[string]bool{
				"as it was made": !changed(func(*unstructured.Unstructured) {}),
				"another label": !changed(func(u *unstructured.Unstructured) {
					u.SetLabels(merge(u.GetLabels(), map[string]string{"release": "prometheus"}))
				}),
				"a status":       !changed(func(u *unstructured.Unstructured) { u.Object["status"] = map[string]any{"bindings": []any{}} }),
				"without labels": changed(func(u *unstructured.Unstructured) { u.SetLabels(nil) }),
				"another field": changed(func(u *unstructured.Unstructured) {
					u.Object["spec"].(map[string]any)["jobLabel"] = "app"
				}),
				"another spec": changed(func(u *unstructured.Unstructured) { u.Object["spec"] = map[string]any{} }),
			} {
				if !is {
					t.Error(title)
				}
			}
		})
	}
}

// TestCoOwners adds and removes one of several owners, and never adds it twice.
func TestCoOwners(t *testing.T) {
	one := cluster(func(*v1beta2.EtcdCluster) {})
	two := cluster(func(c *v1beta2.EtcdCluster) { c.Name, c.UID = "d", "other" })
	owners := CoOwners(CoOwners(CoOwners(nil, one, true), two, true), one, true)
	if len(owners) != 2 || !OwnedBy(owners, one.UID) || !OwnedBy(owners, two.UID) || metav1.GetControllerOf(&metav1.ObjectMeta{OwnerReferences: owners}) != nil {
		t.Errorf("the owners are %+v", owners)
	}
	if left := CoOwners(owners, one, false); len(left) != 1 || !OwnedBy(left, two.UID) {
		t.Errorf("left are %+v", left)
	}
}
