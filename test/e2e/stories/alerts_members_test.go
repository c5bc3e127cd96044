package stories

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

const (
	// alertFlush is what a flush of a disk takes: more than the alert is for, and so little that the log, of which each flush is several of
	// the disk's, is flushed more than once a second.
	alertFlush = 110 * time.Millisecond
	// alertLatency is one way: a round trip takes twice as long, which is well over what the alert is for, and under an election.
	alertLatency = 120 * time.Millisecond
	// stall is for how long a leader is held up: an election takes place with the time-out that etcd has by default, and none with that of
	// the runbook. Between two of them is calm.
	stall, calm = 2 * time.Second, 3 * time.Second
)

// nodeOf is where a pod of a Deployment or of Prometheus runs.
func (s *alerted) nodeOf(namespace string, labels client.MatchingLabels) string {
	s.t.Helper()
	pods := &corev1.PodList{}
	must(s.t, env.List(s.t.Context(), pods, client.InNamespace(namespace), labels))
	if len(pods.Items) != 1 || pods.Items[0].Spec.NodeName == "" {
		s.t.Fatalf("there are %d pods %v in %s, or they run nowhere", len(pods.Items), labels, namespace)
	}
	return pods.Items[0].Spec.NodeName
}

func (s *alerted) prometheusNode() string {
	s.t.Helper()
	return s.nodeOf(lab.PrometheusNamespace, client.MatchingLabels{"app.kubernetes.io/name": "prometheus"})
}

func (s *alerted) operatorNode() string {
	s.t.Helper()
	return s.nodeOf(harness.OperatorNamespace, client.MatchingLabels{"control-plane": "controller-manager"})
}

// takes chooses the member that is to be harmed. What is to be so of its pod is said in words, too.
func (s *alerted) takes(what string, is func(pod corev1.Pod, all []corev1.Pod) bool) {
	s.t.Helper()
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	for _, pod := range pods {
		if is(pod, pods) {
			s.pod = pod
			return
		}
	}
	places := ""
	for _, pod := range pods {
		places += fmt.Sprintf(" %s on %s", pod.Name, pod.Spec.NodeName)
	}
	s.t.Fatalf("no member is %s:%s", what, places)
}

// alone reports whether a member shares its node with no other one.
func alone(pod corev1.Pod, all []corev1.Pod) bool {
	return !slices.ContainsFunc(all, func(other corev1.Pod) bool { return other.UID != pod.UID && other.Spec.NodeName == pod.Spec.NodeName })
}

// cutOff cuts the member on Prometheus's node off from the others, under a client that stays connected to it: it is all that Prometheus
// sees of the cluster then.
func (s *alerted) cutOff() {
	here := s.prometheusNode()
	s.takes("alone on Prometheus's node "+here, func(pod corev1.Pod, all []corev1.Pod) bool {
		return pod.Spec.NodeName == here && alone(pod, all)
	})
	s.known = fmt.Sprintf("up{namespace=%q, etcd_cluster=%q} == 1", s.Namespace, s.Name)
	s.healsAtEnd(here)
	s.clings(s.pod)
	for _, other := range nodes.Nodes() {
		if other != here {
			must(s.t, nodes.Faults().PartitionNodes(s.t.Context(), here, other))
		}
	}
}

// restarts ends the pod of the member that is cut off, still: its clients take another one.
func (s *alerted) restarts() { s.runs("delete pod", "") }

// clings writes all the while through a connection to one member, as a client behind a Service does: until the member's pod is gone. Then it
// connects to another one that is ready.
func (s *alerted) clings(first corev1.Pod) {
	ctx, stop := context.WithCancel(s.t.Context())
	over := make(chan struct{})
	s.t.Cleanup(func() {
		stop()
		<-over
	})
	go func() {
		defer close(over)
		for pod := first; ctx.Err() == nil; {
			s.writes(ctx, pod)
			if all, err := s.Pods(ctx); err == nil {
				if next := slices.IndexFunc(all, isReady); next >= 0 {
					pod = all[next]
				}
			}
		}
	}()
}

// writes writes to a member as long as its pod is there. What fails is what the story is about.
func (s *alerted) writes(ctx context.Context, pod corev1.Pod) {
	etcd, err := s.Etcd(pod)
	if err != nil {
		return
	}
	defer func() { _ = etcd.Close() }()
	const writers, pause, between = 8, 20 * time.Millisecond, time.Second
	looked := time.Now()
	for ctx.Err() == nil {
		one, cancel := context.WithTimeout(ctx, time.Second)
		var busy sync.WaitGroup
		for range writers { // one alone, whose requests take a second each, makes no more than one a second: that is no load
			busy.Go(func() { _, _ = etcd.Put(one, "load", time.Now().String()) })
		}
		busy.Wait()
		cancel()
		if time.Since(looked) > between {
			looked = time.Now()
			all, err := s.Pods(ctx)
			if err == nil && !slices.ContainsFunc(all, func(p corev1.Pod) bool { return p.UID == pod.UID }) {
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// shutOut has a NetworkPolicy keep Prometheus out. Connections that are there stay, so a member is ended: Prometheus has to connect to it anew.
func (s *alerted) shutOut() {
	must(s.t, nodes.NetworkPolicies().Start(s.t.Context(), s.t.Output()))
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := s.Edit(ctx, func(spec *v1beta2.EtcdClusterSpec) { spec.NetworkPolicy = nil }); err != nil {
			s.t.Error(err)
		}
		if err := nodes.NetworkPolicies().Stop(ctx); err != nil {
			s.t.Error(err)
		}
	})
	leader := s.leader()
	s.takes("a follower", func(pod corev1.Pod, _ []corev1.Pod) bool { return pod.Name != leader.Name })
	s.guard(v1beta2.NetworkPolicySpec{Mode: v1beta2.NetworkPolicyStrict})
	must(s.t, harness.Await(s.t.Context(), "a NetworkPolicy lets nobody in who is not named", limit, func(ctx context.Context) (string, bool) {
		policy := &networkingv1.NetworkPolicy{}
		err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Name}, policy)
		open := slices.ContainsFunc(policy.Spec.Ingress, func(rule networkingv1.NetworkPolicyIngressRule) bool { return len(rule.From) == 0 })
		return fmt.Sprintf("%+v, %v", policy.Spec.Ingress, err), err == nil && !open && len(policy.Spec.Ingress) > 0
	}))
	before := *s.trial.pod(s.pod.Name)
	must(s.t, nodes.Faults().KillContainer(s.t.Context(), s.container(before.Name)))
	s.restarted(before)
}

// admits lets Prometheus in.
func (s *alerted) admits() { s.runs("metricsFrom", "") }

// farAway puts the node of a member behind a slow link.
func (s *alerted) farAway() {
	s.takes("alone on its node", alone)
	node := s.pod.Spec.NodeName
	s.healsAtEnd(node)
	must(s.t, nodes.Faults().SlowLink(s.t.Context(), node, alertLatency, 0))
}

// moves has the member made anew on another node, as the runbook says.
func (s *alerted) moves() {
	node, gone := s.pod.Spec.NodeName, s.pod.UID
	s.t.Cleanup(func() { uncordon(s.trial, node) })
	s.runs("cordon", "")
	must(s.t, s.Recovered(s.t.Context(), gone, limit))
}

// withDisks is a cluster whose members have disks of their own, with one to spare on each node.
func (s *alerted) withDisks() {
	ready(s.t)
	disks(s.t, "alerts")
	disks(s.t, "alerts-spare")
	s.cluster("slow-disk", onDisks())
	s.scraped(3)
}

// slowsDisk makes the disk of a follower slow, under a client at work.
func (s *alerted) slowsDisk() {
	leader := s.leader()
	s.takes("a follower", func(pod corev1.Pod, _ []corev1.Pod) bool { return pod.Name != leader.Name })
	disk := s.disk(s.pod)
	s.healsAtEnd(s.pod.Spec.NodeName)
	s.clings(leader)
	must(s.t, nodes.Disks().Slow(s.t.Context(), disk, alertFlush))
}

// starves holds the leader up, again and again, until it is relieved.
func (s *alerted) starves() {
	ctx, cancel := context.WithCancel(s.t.Context())
	over := make(chan struct{})
	s.relieve = func() {
		cancel()
		<-over
	}
	s.t.Cleanup(s.relieve)
	go func() {
		defer close(over)
		for ctx.Err() == nil {
			if leader, err := s.Leader(ctx); err == nil {
				s.stalls(ctx, leader.Name)
			}
			select {
			case <-ctx.Done():
			case <-time.After(calm):
			}
		}
	}()
}

// stalls holds one member up once.
func (s *alerted) stalls(ctx context.Context, pod string) {
	name := s.container(pod)
	if err := nodes.Faults().FreezeContainer(ctx, name); err != nil {
		s.t.Logf("freeze %s: %v", name, err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(stall):
	}
	thawing, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if err := nodes.Faults().ThawContainer(thawing, name); err != nil {
		s.t.Errorf("thaw %s: %v", name, err)
	}
}

// raisesTimes gives leaders more time, and holds them up as before.
func (s *alerted) raisesTimes() {
	s.relieve()
	s.healthy("the leader is held up no more")
	s.runs("electionTimeout", "")
	must(s.t, s.Updated(s.t.Context(), limit))
	s.settled()
	s.starves()
}
