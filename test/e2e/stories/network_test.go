package stories

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// cutFor is how long a network stays cut: less than it takes Kubernetes to give the pods of a silent node up.
const cutFor = 25 * time.Second

var networkFaults = []fault{
	{
		family: "network", name: "leader-cut", title: "the leader's node cut off from the other nodes for 25 s",
		spec:   onVolumes(3),
		breaks: func(s *trial) { s.cut(s.leaderElsewhere()) },
	},
	{
		family: "network", name: "follower-cut", title: "a follower's node cut off from the other nodes for 25 s",
		spec:   onVolumes(3),
		breaks: func(s *trial) { s.cut(s.follower()) },
	},
	{
		family: "network", name: "minority-cut", title: "a node with a minority of five cut off from the others for 25 s",
		spec:   onVolumes(5),
		breaks: func(s *trial) { s.cut(s.leaderElsewhere()) },
	},
	{
		family: "network", name: "two-apart", title: "the leader's and another member's node cut off from one another for 25 s",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			before, leader, follower := s.identities(), s.leaderElsewhere(), s.follower()
			s.healsAtEnd(leader.Spec.NodeName)
			s.breaking()
			must(s.t, nodes.Faults().PartitionNodes(s.t.Context(), leader.Spec.NodeName, follower.Spec.NodeName))
			s.hold(cutFor)
			must(s.t, nodes.Faults().HealNode(s.t.Context(), leader.Spec.NodeName))
			s.recover()
			s.same(before)
		},
	},
	{
		family: "network", name: "deaf-leader", title: "the leader's node sends to the other nodes and hears nothing for 25 s",
		spec:   onVolumes(3),
		breaks: func(s *trial) { s.cutOneWay(func(leader, other string) (string, string) { return other, leader }) },
	},
	{
		family: "network", name: "mute-leader", title: "the leader's node hears the other nodes and sends nothing for 25 s",
		spec:   onVolumes(3),
		breaks: func(s *trial) { s.cutOneWay(func(leader, other string) (string, string) { return leader, other }) },
	},
	{
		family: "network", name: "slow-link", title: "the leader's node behind a link of 50 ms and 5 % loss each way for 25 s",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			before, leader := s.identities(), s.leaderElsewhere().Spec.NodeName
			s.healsAtEnd(leader)
			s.breaking()
			const latency, loss = 50 * time.Millisecond, 0.05
			must(s.t, nodes.Faults().SlowLink(s.t.Context(), leader, latency, loss))
			s.hold(cutFor)
			must(s.t, nodes.Faults().FastLink(s.t.Context(), leader))
			s.recover()
			s.same(before)
		},
	},
	{
		family: "network", name: "cable", title: "the leader's node unplugged until it was replaced, and plugged in again",
		spec:   onVolumes(3),
		breaks: func(s *trial) { s.takeAway(s.leaderElsewhere(), nodes.Faults().IsolateNode) },
	},
}

// cut separates a pod's node from all other nodes, not from the API server, and joins them again. Every member stays the
// same.
func (s *trial) cut(pod corev1.Pod) {
	before, node := s.identities(), pod.Spec.NodeName
	s.healsAtEnd(node)
	s.breaking()
	for _, other := range nodes.Nodes() {
		if other != node {
			must(s.t, nodes.Faults().PartitionNodes(s.t.Context(), node, other))
		}
	}
	s.notices("")
	s.hold(time.Until(s.broken.Add(cutFor)))
	must(s.t, nodes.Faults().HealNode(s.t.Context(), node))
	s.recover()
	s.same(before)
}

// cutOneWay drops what goes one way between the leader's node and all others.
func (s *trial) cutOneWay(direction func(leader, other string) (from, to string)) {
	before, leader := s.identities(), s.leaderElsewhere().Spec.NodeName
	s.healsAtEnd(leader)
	s.breaking()
	for _, other := range nodes.Nodes() {
		if other != leader {
			from, to := direction(leader, other)
			must(s.t, nodes.Faults().PartitionOneWay(s.t.Context(), from, to))
		}
	}
	s.hold(time.Until(s.broken.Add(cutFor)))
	must(s.t, nodes.Faults().HealNode(s.t.Context(), leader))
	s.recover()
	s.same(before)
}
