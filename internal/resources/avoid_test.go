package resources_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestAvoid keeps a pod away from a node beside what the spec asks for, and makes it no different from others of that spec.
func TestAvoid(t *testing.T) {
	c := &v1beta2.EtcdCluster{}
	c.Name, c.Namespace, c.UID = "c", "ns", "uid"
	c.Spec.Pod = &v1beta2.PodPolicy{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpExists}}},
			{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "etcd", Operator: corev1.NodeSelectorOpExists}}},
		}},
	}}}
	made := func(a plan.Avoidance) *corev1.Pod {
		t.Helper()
		pod, err := resources.Pod(c, "c-3", 1, nil, resources.PodOptions{EtcdVersion: "3.6.16", Avoid: a})
		if err != nil {
			t.Fatal(err)
		}
		return pod
	}
	refuses := func(term corev1.NodeSelectorTerm) bool {
		return slices.ContainsFunc(term.MatchFields, func(r corev1.NodeSelectorRequirement) bool {
			return r.Key == "metadata.name" && r.Operator == corev1.NodeSelectorOpNotIn && slices.Equal(r.Values, []string{"n1"})
		})
	}
	strict := made(plan.Avoidance{Node: "n1", Strictly: true})
	for _, term := range strict.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		if !refuses(term) || len(term.MatchExpressions) != 1 {
			t.Errorf("a term is %v", term)
		}
	}
	mild := made(plan.Avoidance{Node: "n1"})
	to := mild.Spec.Affinity.NodeAffinity
	if prefers := to.PreferredDuringSchedulingIgnoredDuringExecution; len(prefers) != 1 || !refuses(prefers[0].Preference) {
		t.Errorf("it prefers %v", prefers)
	}
	if slices.ContainsFunc(to.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, refuses) {
		t.Error("where the node is the only one, the pod cannot be there")
	}
	if slices.ContainsFunc(c.Spec.Pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, refuses) {
		t.Error("the spec has changed")
	}
	if got := resources.Avoids(strict); got != "n1" || resources.Avoids(mild) != "" {
		t.Errorf("it is told to avoid %q", got)
	}
	now, err := resources.RevisionOf(c, resources.PodOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range []*corev1.Pod{strict, mild} {
		if drift := now.Drift(pod, ""); drift.Template || drift.Metadata || drift.Rewritten {
			t.Errorf("it drifts from the spec: %+v", drift)
		}
	}
	c.Spec.Pod = nil
	if plain := made(plan.Avoidance{Node: "n1", Strictly: true}); len(plain.Spec.TopologySpreadConstraints) == 0 ||
		!refuses(plain.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0]) {
		t.Errorf("without a spec's affinity: %v", plain.Spec.Affinity)
	}
}
