package resources

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// TestPinned wants members' pods to ask for etcd by digest where it is known, and pods to differ by nothing that is no more than another
// digest, or the place that this is given for.
func TestPinned(t *testing.T) {
	const digest = "@sha256:0123"
	const mirror, own = "mirror.example/etcd:v3.6.16" + digest, "registry.example.com/etcd"
	quay := version.Image("", "3.6.16") + digest
	from := func(repository string) *v1beta2.EtcdCluster {
		return cluster(func(c *v1beta2.EtcdCluster) { c.Spec.Repository = repository })
	}
	pod := func(repository string, pinned ...string) *corev1.Pod {
		o := options
		o.Pinned = pinned
		return build(t, from(repository), nil, o)
	}
	rewritten := pod("", quay)
	rewritten.Spec.Containers[0].Image = "mirror.example/etcd:v3.6.16@sha256:4567"
	for title, c := range map[string]struct {
		pod        *corev1.Pod
		repository string
		image      string
		want       plan.Drift
	}{
		"by digest":                         {pod("", quay), "", quay, plan.Drift{}},
		"by digest in a repository named":   {pod(version.DefaultRepository, quay), version.DefaultRepository, quay, plan.Drift{}},
		"by digest from elsewhere":          {pod("", mirror), "", mirror, plan.Drift{}},
		"of another version":                {pod("", version.Image("", "3.7.3")+digest), "", version.Image("", "3.6.16"), plan.Drift{}},
		"rewritten by an admission webhook": {rewritten, "", quay, plan.Drift{}},
		"the spec names another repository": {pod("", quay), own, quay, plan.Drift{Image: true}},
		"the spec named a repository":       {pod(own, quay), "", own + ":v3.6.16", plan.Drift{Image: true}},
		"and names one still":               {pod(own, quay), own, own + ":v3.6.16", plan.Drift{}},
	} {
		r, err := RevisionOf(from(c.repository), options)
		if err != nil {
			t.Fatal(err)
		}
		if image := ImageOf(c.pod); image != c.image || version.OfImage(image) != "3.6.16" {
			t.Errorf("%s: it asks for %s, want %s", title, image, c.image)
		}
		if got := r.Drift(c.pod, c.repository); got != c.want {
			t.Errorf("%s: %+v, want %+v", title, got, c.want)
		}
	}
}

// TestPinnedChangesNothingElse holds that a digest changes a pod by that digest alone, and no revision.
func TestPinnedChangesNothingElse(t *testing.T) {
	c := cluster(func(*v1beta2.EtcdCluster) {})
	pinned := options
	pinned.Pinned = version.Pinned{version.Image("", options.EtcdVersion) + "@sha256:0123"}
	plain, byDigest := build(t, c, nil, options), build(t, c, nil, pinned)
	image := EtcdOf(byDigest).Image
	if image != pinned.Pinned[0] || byDigest.Annotations[AnnotationImage] != image {
		t.Errorf("it asks for %s, and notes %s", image, byDigest.Annotations[AnnotationImage])
	}
	byDigest.Spec.Containers[0].Image, byDigest.Annotations[AnnotationImage] = EtcdOf(plain).Image, plain.Annotations[AnnotationImage]
	if got, want := encode(byDigest), encode(plain); got != want {
		t.Errorf("the pod is %s, want %s", got, want)
	}
	a, errA := RevisionOf(c, options)
	b, errB := RevisionOf(c, pinned)
	if a != b || errA != nil || errB != nil {
		t.Errorf("%+v and %+v, %v, %v", a, b, errA, errB)
	}
}
