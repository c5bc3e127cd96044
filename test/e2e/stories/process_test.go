package stories

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// frozenFor is how long a frozen process stays so: well over etcd's election timeout, and less than Kubernetes needs to
// act of its own accord.
const frozenFor = 20 * time.Second

var processFaults = []fault{
	{
		family: "process", name: "killed-leader", title: "the leader's process killed", spec: onVolumes(3),
		breaks: func(s *trial) {
			before, leader := s.identities(), s.leaderElsewhere()
			s.breaking()
			must(s.t, nodes.Faults().KillContainer(s.t.Context(), s.container(leader.Name)))
			s.restarted(leader)
			s.recover()
			s.same(before)
		},
	},
	{
		family: "process", name: "frozen-follower", title: "a follower frozen for 20 s", spec: onVolumes(3),
		breaks: func(s *trial) { s.freeze(s.follower().Name) },
	},
	{
		family: "process", name: "frozen-leader", title: "the leader frozen for 20 s", gate: true, apart: true, spec: onVolumes(3),
		breaks: func(s *trial) { s.freeze(s.leaderElsewhere().Name) },
	},
	{
		family: "process", name: "pod-emptydir", title: "a pod on an emptyDir deleted without grace",
		spec:   v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) { s.killPod(s.follower()) },
	},
	{
		family: "process", name: "pod-leader", title: "the leader's pod on an emptyDir deleted without grace",
		spec:   v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) { s.killPod(s.leaderElsewhere()) },
	},
	{
		family: "process", name: "two-in-turn", title: "two pods on emptyDirs deleted, the second once the first was replaced",
		spec: v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) {
			pods, err := s.Pods(s.t.Context())
			must(s.t, err)
			s.breaking()
			for _, pod := range pods[:2] {
				must(s.t, s.KillPod(s.t.Context(), pod.Name))
				s.replaced(pod.UID)
			}
		},
	},
	{
		family: "process", name: "two-at-once", title: "two of three pods on volumes deleted at once", spec: onVolumes(3),
		breaks: func(s *trial) {
			before := s.identities()
			pods, err := s.Pods(s.t.Context())
			must(s.t, err)
			s.breaking()
			for _, pod := range pods[:2] {
				must(s.t, s.KillPod(s.t.Context(), pod.Name))
			}
			s.replaced(pods[0].UID)
			s.replaced(pods[1].UID)
			s.same(before)
		},
	},
	{
		family: "process", name: "all-at-once", title: "all three pods on volumes deleted at once", spec: onVolumes(3),
		breaks: func(s *trial) {
			before := s.identities()
			pods, err := s.Pods(s.t.Context())
			must(s.t, err)
			s.breaking()
			for _, pod := range pods {
				must(s.t, s.KillPod(s.t.Context(), pod.Name))
			}
			for _, pod := range pods {
				s.replaced(pod.UID)
			}
			s.same(before)
		},
	},
	{
		family: "process", name: "frozen-newcomer", title: "3 to 5, and a newcomer frozen for 20 s as soon as it is listed",
		spec: v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) {
			const newcomer = "frozen-newcomer-3"
			s.t.Cleanup(func() { thaw(s, newcomer) })
			s.breaking()
			s.resize(5)
			must(s.t, harness.Await(s.t.Context(), "a newcomer is listed", limit, s.listed(4)))
			must(s.t, nodes.Faults().FreezeContainer(s.t.Context(), s.container(newcomer)))
			s.hold(frozenFor)
			must(s.t, nodes.Faults().ThawContainer(s.t.Context(), s.container(newcomer)))
			s.recover()
		},
	},
}

// restarted waits until etcd was started once more in a pod, which may be too soon for anyone to miss it.
func (s *trial) restarted(before corev1.Pod) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "etcd started again", limit, func(context.Context) (string, bool) {
		now := s.pod(before.Name).Status.ContainerStatuses[0]
		return fmt.Sprintf("%+v", now), now.RestartCount > before.Status.ContainerStatuses[0].RestartCount && now.Ready
	}))
}

// freeze stops a member's process, and checks that it is missed, and welcome again when it goes on.
func (s *trial) freeze(pod string) {
	before := s.identities()
	s.t.Cleanup(func() { thaw(s, pod) })
	s.breaking()
	must(s.t, nodes.Faults().FreezeContainer(s.t.Context(), s.container(pod)))
	s.notices(pod)
	s.hold(time.Until(s.broken.Add(frozenFor)))
	must(s.t, nodes.Faults().ThawContainer(s.t.Context(), s.container(pod)))
	s.recover()
	s.same(before)
}

// killPod deletes a pod without grace and waits until another one is in its place.
func (s *trial) killPod(pod corev1.Pod) {
	s.t.Helper()
	s.breaking()
	must(s.t, s.KillPod(s.t.Context(), pod.Name))
	s.replaced(pod.UID)
}
