package resources

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestPullPod wants no Service or budget to count a pod that pulls an image, and no ratio of limits and requests that a LimitRange may forbid.
func TestPullPod(t *testing.T) {
	c := cluster(func(c *v1beta2.EtcdCluster) {
		c.Spec.Pod = &v1beta2.PodPolicy{Labels: map[string]string{"cost-center": "7", "app.kubernetes.io/component": "database"}}
	})
	pod := PullPod(c, "node", "quay.io/coreos/etcd:v3.7.3", PodOptions{})
	if pod.Labels["cost-center"] != "" {
		t.Errorf("labels %v: a Service of the user's may select them", pod.Labels)
	}
	if pod.Labels["app.kubernetes.io/component"] != "image-pull" {
		t.Errorf("labels %v: the operator's own come first", pod.Labels)
	}
	if !labels.SelectorFromSet(PullSelector(c.Name)).Matches(labels.Set(pod.Labels)) {
		t.Errorf("labels %v: the operator does not find it", pod.Labels)
	}
	for _, selector := range []map[string]string{ClusterSelector(c.Name), ServingSelector(c.Name), {LabelCluster: c.Name}} {
		if labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels)) {
			t.Errorf("%v selects it, which counts members", selector)
		}
	}
	for name, limit := range EtcdOf(pod).Resources.Limits {
		if request := EtcdOf(pod).Resources.Requests[name]; !limit.Equal(request) {
			t.Errorf("%s: the limit is %s, and the request %s: a LimitRange may allow no ratio", name, limit.String(), request.String())
		}
	}
}
