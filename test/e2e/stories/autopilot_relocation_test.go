package stories

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	// sampledEvery is how often members are asked for their metrics in these stories, instead of every five minutes.
	sampledEvery = 10 * time.Second
	// sampledPace has the operator do so.
	sampledPace = int(anomaly.Every / sampledEvery)
	// judgedWithin is how long it takes at most until a disk has been slow in twelve such samples: four minutes, and longer as the member misses some.
	judgedWithin = 10 * time.Minute
	// givenUpWithin is when a new member's pod without a node is given up: after five minutes.
	givenUpWithin = 8 * time.Minute
)

// TestRelocate makes the disk of one member slow: it is replaced by a member on another node, and a client loses nothing. No other story runs
// meanwhile, because the operator looks more often than usual.
func TestRelocate(t *testing.T) {
	quickened(t, sampledPace)
	editionDisks(t, "relocate", "relocate-spare")
	editions(t, relocate)
}

func relocate(t *testing.T, etcd edition) {
	s := etcd.begin(t, "relocate", relocatable(v1beta2.AutopilotOn))
	s.settled()
	s.client()
	slow := s.followerPod()
	s.slow(*slow, slowFlush)
	start := time.Now()
	s.awaitRelocation("a member is being moved", judgedWithin, func(r *v1beta2.Relocation) bool {
		return r.Member == slow.Name && r.Node == slow.Spec.NodeName && r.GivenUp == ""
	})
	t.Logf("decided after %.0f s", time.Since(start).Seconds())
	s.awaitRelocation("it is over", judgedWithin, func(r *v1beta2.Relocation) bool { return r.MemberID == "" && r.GivenUp == "" })
	t.Logf("moved after %.0f s", time.Since(start).Seconds())
	s.settled()
	s.report("a client saw")
	pods := s.memberPods()
	if len(pods) != 3 || slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.UID == slow.UID }) {
		t.Errorf("the members' pods are %v", names(pods))
	}
	for _, p := range pods {
		if p.Spec.NodeName == slow.Spec.NodeName {
			t.Errorf("%s is on node %s, which has the slow disk", p.Name, p.Spec.NodeName)
		}
	}
	s.relocatesOnce()
	s.toldOnce(v1beta2.ReasonRelocated)
	s.unsaid(v1beta2.ReasonRelocationGivenUp)
}

// TestRelocateHeld has nobody be moved while the disks of all members are slow. Then only one is, but there is no disk for another member: that is
// given up after five minutes, and the members are who they were.
func TestRelocateHeld(t *testing.T) {
	if len(nodes.Nodes()) > 3 {
		t.Skip("with more nodes than members there is a disk to move to")
	}
	quickened(t, sampledPace)
	editionDisks(t, "relocate-held")
	editions(t, relocateHeld)
}

func relocateHeld(t *testing.T, etcd edition) {
	s := etcd.begin(t, "relocate-held", relocatable(v1beta2.AutopilotOn))
	s.settled()
	s.client()
	before := s.memberPods()
	for i := range before {
		s.slow(before[i], alertFlush)
	}
	must(t, harness.Await(t.Context(), "it is held", judgedWithin, func(ctx context.Context) (string, bool) {
		return s.heldFor(ctx, "relocation", v1beta2.ReasonRelocationHeld, "the disks of all members")
	}))
	s.unsaid(v1beta2.ReasonRelocating)
	s.report("all disks were slow")

	slow := s.followerPod()
	for i := range before {
		if before[i].Name != slow.Name {
			must(t, nodes.Disks().Fast(t.Context(), s.disk(before[i])))
		}
	}
	s.awaitRelocation("it is given up", judgedWithin+givenUpWithin, func(r *v1beta2.Relocation) bool {
		return r.Member == slow.Name && r.MemberID == "" && r.GivenUp != ""
	})
	must(t, nodes.Disks().Fast(t.Context(), s.disk(*slow)))
	s.settled()
	s.report("a relocation was given up")
	after := s.memberPods()
	if !slices.EqualFunc(before, after, func(a, b corev1.Pod) bool { return a.UID == b.UID }) {
		t.Errorf("the members' pods are %v, and were %v", names(after), names(before))
	}
	s.relocatesOnce()
	s.toldOnce(v1beta2.ReasonRelocationGivenUp)
	s.unsaid(v1beta2.ReasonRelocated)
}

// relocatable is a cluster of three on disks of their own, whose members may be moved.
func relocatable(mode v1beta2.AutopilotMode) v1beta2.EtcdClusterSpec {
	spec := onDisks()
	spec.Autopilot = &v1beta2.AutopilotSpec{Relocation: &v1beta2.AutopilotFeature{Mode: mode}}
	return spec
}

// relocatesOnce wants one relocation to have begun: that the former member is removed is said with the same reason.
func (s *story) relocatesOnce() {
	s.t.Helper()
	s.saidOnce(v1beta2.ReasonRelocating, "moving ")
}

// saidOnce wants one event with that reason that begins so.
func (s *story) saidOnce(reason, begins string) {
	s.t.Helper()
	notes := slices.DeleteFunc(s.said(reason), func(note string) bool { return !strings.HasPrefix(note, begins) })
	if len(notes) != 1 {
		s.t.Errorf("events %s that begin with %q: %q", reason, begins, notes)
	}
}

// memberPods are those of all members, in the order of their names.
func (s *story) memberPods() (pods []corev1.Pod) {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	for _, m := range object.Status.MemberStatuses {
		pods = append(pods, *s.pod(m.Name))
	}
	return pods
}

// followerPod is the pod of a member that does not lead.
func (s *story) followerPod() *corev1.Pod {
	s.t.Helper()
	leader, err := s.Leader(s.t.Context())
	must(s.t, err)
	pods := s.memberPods()
	i := slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Name != leader.Name })
	if i < 0 {
		s.t.Fatal("no member follows")
	}
	return &pods[i]
}

// slow makes a member's disk slow until the story's end: so long takes a flush.
func (s *story) slow(pod corev1.Pod, flush time.Duration) {
	s.t.Helper()
	disk := s.disk(pod)
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := nodes.Disks().Fast(ctx, disk); err != nil {
			s.t.Error(err)
		}
	})
	must(s.t, nodes.Disks().Slow(s.t.Context(), disk, flush))
}

// awaitRelocation waits until status says so of a relocation.
func (s *story) awaitRelocation(what string, within time.Duration, is func(*v1beta2.Relocation) bool) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), what, within, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		a := object.Status.Autopilot
		return inJSON(a), a != nil && a.Relocation != nil && is(a.Relocation)
	}))
}

func names(pods []corev1.Pod) (all []string) {
	for _, p := range pods {
		all = append(all, p.Name)
	}
	return all
}
