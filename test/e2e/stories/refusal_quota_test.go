package stories

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

var quotaFaults = []fault{
	{
		family: "refusal", name: "quota", gate: true, apart: true, spec: onVolumes(3),
		title: "a pod deleted where a quota then has no room for another one, and the leader's process killed; the quota raised",
		breaks: func(s *trial) {
			before, lost := s.identities(), s.follower()
			quota := s.quota(3) // the client and two members
			s.breaking()
			must(s.t, s.KillPod(s.t.Context(), lost.Name))
			s.refused("create Pod "+lost.Name, "exceeded quota")
			s.serves(s.names(lost.Name)...)
			s.diesInPlace(s.leader())
			s.serves(s.names(lost.Name)...)
			s.servedAgain(s.leader())
			s.told("exceeded quota", 2) // as long as the lost pod is counted, and after that
			s.change(quota, func() { quota.Spec.Hard = podCount(10) })
			s.askedAgain(lost, s.allows(s.tries(anything)))
			s.accepted()
			s.same(before)
			s.madeAtMost(4, memberPods)
		},
	},
	{
		family: "refusal", name: "limit-ratio",
		title: "another version where a LimitRange asks for more than the pods that pull its image do, and a pod deleted meanwhile",
		spec:  bounded("3.6.15", "512Mi"),
		breaks: func(s *trial) {
			before := s.identities()
			s.limits(corev1.LimitRangeItem{
				Min:                  corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("100Mi")},
				MaxLimitRequestRatio: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10")},
			})
			s.breaking()
			s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.6.16" })
			s.until("one member runs 3.6.16", func(status v1beta2.EtcdClusterStatus) bool { return status.UpdatedMembers >= 1 })
			must(s.t, s.KillPod(s.t.Context(), s.follower().Name))
			must(s.t, s.Updated(s.t.Context(), limit))
			s.accepted()
			s.serves(s.names("")...)
			s.same(before)
			s.madeAtMost(4, memberPods)
		},
	},
	{
		family: "refusal", name: "limit-maximum", title: "more memory than a LimitRange allows asked for, a pod deleted meanwhile, and back",
		spec: bounded("3.6.16", "512Mi"),
		breaks: func(s *trial) {
			before, pods := s.identities(), s.uids()
			s.limits(corev1.LimitRangeItem{Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}})
			s.breaking()
			s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Resources = within("2Gi") })
			s.onlyRefused("resize Pod "+s.Name, "maximum memory usage per Container is 1Gi")
			s.serves(s.names("")...)
			s.hold(askedWithin)
			s.unchanged("pods", pods, s.uids())
			s.comesBack(s.follower())
			s.onlyRefused("maximum memory usage per Container is 1Gi")
			s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Resources = within("512Mi") })
			s.accepted()
			s.serves(s.names("")...)
			s.same(before)
			s.madeAtMost(4, memberPods)
		},
	},
}

// quota is one of pods that is in force, and that has no room. There may be more of them already.
func (s *trial) quota(pods int64) *corev1.ResourceQuota {
	s.t.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "pods"}, Spec: corev1.ResourceQuotaSpec{Hard: podCount(pods)},
	}
	must(s.t, env.Create(s.t.Context(), quota))
	// Without a word about what is used the API server would wait for one, and refuse everything.
	key := client.ObjectKeyFromObject(quota)
	must(s.t, harness.Await(s.t.Context(), "the quota is counted", limit, func(ctx context.Context) (string, bool) {
		err := s.Client.Get(ctx, key, quota)
		return fmt.Sprintf("%v, %v", quota.Status, err), err == nil && len(quota.Status.Used) > 0
	}))
	s.refuses("exceeded quota", s.tries(anything))
	return quota
}

func podCount(n int64) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(n, resource.DecimalSI)}
}

// limits makes a LimitRange for containers, and waits until it is obeyed.
func (s *trial) limits(item corev1.LimitRangeItem) {
	s.t.Helper()
	item.Type = corev1.LimitTypeContainer
	must(s.t, env.Create(s.t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "containers"},
		Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}},
	}))
	// More memory than any of them allows, at a ratio that none allows.
	s.refuses("per Container is", s.tries(func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi")},
		}
	}))
}

// ofVersion is a cluster of three on volumes.
func ofVersion(version string) v1beta2.EtcdClusterSpec {
	spec := onVolumes(3)
	spec.Version = version
	return spec
}

// bounded is a cluster of three on volumes whose members have requests and limits.
func bounded(version, memory string) v1beta2.EtcdClusterSpec {
	spec := ofVersion(version)
	spec.Pod.Resources = within(memory)
	return spec
}

// within is what a member needs, and the most memory that it may have.
func within(memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse(memory)},
	}
}
