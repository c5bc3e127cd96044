package stories

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

var nodeFaults = []fault{
	lostNode("lost", "a node killed until its member was replaced, and booted with its old pod and volume", false, onVolumes(3)),
	lostNode("lost-soon", "a node killed, which its pod is to leave at once, until the member was replaced, and booted again", true, leavesAtOnce()),
	{
		family: "node", name: "rebooted", title: "the leader's node without power for a moment", spec: onVolumes(3),
		breaks: func(s *trial) {
			before, target := s.identities(), s.leaderElsewhere()
			s.healsAtEnd(target.Spec.NodeName)
			s.breaking()
			must(s.t, nodes.Faults().KillNode(s.t.Context(), target.Spec.NodeName))
			s.notices(target.Name)
			must(s.t, nodes.Faults().HealNode(s.t.Context(), target.Spec.NodeName))
			s.recover()
			s.same(before)
		},
	},
	{
		// Its etcd works on, and is not replaced as long as it does.
		family: "node", name: "unwatched", title: "a node's kubelet and containerd stopped until its pod was given up, and started again",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			before, target := s.identities(), s.follower()
			s.healsAtEnd(target.Spec.NodeName)
			s.breaking()
			must(s.t, nodes.Faults().StopNode(s.t.Context(), target.Spec.NodeName))
			s.awaitGivenUp(target)
			must(s.t, nodes.Faults().HealNode(s.t.Context(), target.Spec.NodeName))
			s.replaced(target.UID)
			s.same(before)
		},
	},
	{
		family: "node", name: "drain-volumes", title: "every node drained in turn, members on volumes", gate: true,
		spec: onVolumes(3), breaks: func(s *trial) { s.drainAll() },
	},
	{
		family: "node", name: "drain-emptydir", title: "every node drained in turn, members on emptyDirs",
		spec: v1beta2.EtcdClusterSpec{Size: 3}, breaks: func(s *trial) { s.drainAll() },
	},
	{
		family: "node", name: "clock-forward", title: "every clock 90 s ahead for 20 s", spec: onVolumes(3),
		breaks: func(s *trial) { s.jump(clockJump) },
	},
	{
		family: "node", name: "clock-back", title: "every clock 90 s behind for 20 s", spec: onVolumes(3),
		breaks: func(s *trial) { s.jump(-clockJump) },
	},
}

// lostNode has a follower's node without power until the member was replaced.
func lostNode(name, title string, gate bool, spec v1beta2.EtcdClusterSpec) fault {
	return fault{
		family: "node", name: name, title: title, gate: gate, spec: spec,
		breaks: func(s *trial) { s.takeAway(s.follower(), nodes.Faults().KillNode) },
	}
}

// leavesAtOnce is a cluster on volumes whose pods tolerate no node that is lost. By default they would stay there for 30 s.
func leavesAtOnce() v1beta2.EtcdClusterSpec {
	spec, none := onVolumes(3), int64(0)
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		spec.Pod.Tolerations = append(spec.Pod.Tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &none,
		})
	}
	return spec
}

// clockJump is longer than the time after which Kubernetes calls a silent node lost.
const clockJump = 90 * time.Second

// jump moves the clock that all nodes and the operator share, and puts it back.
func (s *trial) jump(by time.Duration) {
	s.t.Helper()
	before := s.identities()
	restore := func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := nodes.Faults().RestoreClock(ctx); err != nil {
			s.t.Error(err)
		}
	}
	s.t.Cleanup(restore)
	s.breaking()
	must(s.t, nodes.Faults().JumpClock(s.t.Context(), by))
	s.hold(frozenFor)
	restore()
	s.recover()
	s.same(before)
}

// takeAway does harm to a pod's node until the member was replaced elsewhere, and heals the node.
func (s *trial) takeAway(target corev1.Pod, harm func(ctx context.Context, node string) error) {
	s.t.Helper()
	s.healsAtEnd(target.Spec.NodeName)
	s.breaking()
	must(s.t, harm(s.t.Context(), target.Spec.NodeName))
	s.awaitGivenUp(target)
	must(s.t, harness.Await(s.t.Context(), "all members are healthy", limit, s.ready(int(s.spec.Size))))
	s.mended = time.Now()
	must(s.t, nodes.Faults().HealNode(s.t.Context(), target.Spec.NodeName))
	must(s.t, s.Recovered(s.t.Context(), target.UID, limit))
}

// awaitGivenUp waits until Kubernetes has given up a pod on a silent node.
func (s *trial) awaitGivenUp(target corev1.Pod) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "the pod is given up", limit, func(ctx context.Context) (string, bool) {
		pod := s.pod(target.Name)
		return string(pod.Status.Phase), pod.DeletionTimestamp != nil && time.Now().After(pod.DeletionTimestamp.Time)
	}))
	s.noticing()
}

// drainAll drains one node after the other, as for an upgrade of them: each is free again before the next one's turn.
// Members on local volumes cannot run elsewhere; they come back when their node does.
func (s *trial) drainAll() {
	s.breaking()
	for _, node := range nodes.Nodes() {
		s.t.Cleanup(func() { uncordon(s, node) })
		start := time.Now()
		must(s.t, env.Run(s.t.Context(), "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force",
			"--pod-selector=!"+harness.ClientLabel, "--timeout=3m"))
		s.t.Logf("%s drained in %.1f s", node, time.Since(start).Seconds())
		must(s.t, env.Run(s.t.Context(), "uncordon", node))
		s.recover()
		s.settled()
	}
}

func uncordon(s *trial, node string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := env.Run(ctx, "uncordon", node); err != nil {
		s.t.Error(err)
	}
}
