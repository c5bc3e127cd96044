package stories

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestNodeLost kills a node with everything on it. Kubernetes needs its time to notice; then the member is replaced,
// and when the node comes back, what it held of the old member goes.
func TestNodeLost(t *testing.T) {
	s := begin(t, "nodelost", onVolumes(3))
	s.settled()
	s.client()
	victim := s.besides("nodelost-test-client")
	node := victim.Spec.NodeName
	start := time.Now()
	must(t, nodes.KillNode(t.Context(), node))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := nodes.HealNode(ctx, node); err != nil {
			t.Error(err)
		}
	})
	must(t, harness.Await(t.Context(), "the pod is given up", limit, func(ctx context.Context) (string, bool) {
		pod := s.pod(victim.Name)
		return string(pod.Status.Phase), pod.DeletionTimestamp != nil && time.Now().After(pod.DeletionTimestamp.Time)
	}))
	detected := time.Now()
	must(t, harness.Await(t.Context(), "three healthy members", limit, s.ready(3)))
	t.Logf("Kubernetes gave the pod up after %.1f s; %.1f s later the member was replaced",
		detected.Sub(start).Seconds(), time.Since(detected).Seconds())
	s.report("a node lost")

	must(t, nodes.HealNode(t.Context(), node))
	must(t, s.Recovered(t.Context(), victim.UID, limit))
	s.settled()
	s.report("the node back")
}

// besides is a member's pod on a node with neither the operator nor that pod, so that what the story measures is the
// member's loss alone.
func (s *story) besides(client string) *corev1.Pod {
	s.t.Helper()
	operators := &corev1.PodList{}
	must(s.t, env.List(s.t.Context(), operators, ctrlclient.InNamespace(harness.OperatorNamespace)))
	taken := []string{s.pod(client).Spec.NodeName}
	for _, p := range operators.Items {
		taken = append(taken, p.Spec.NodeName)
	}
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	for _, p := range pods {
		if !slices.Contains(taken, p.Spec.NodeName) {
			return &p
		}
	}
	s.t.Fatalf("every node with a member has the operator or the client: %v", taken)
	return nil
}

// ready holds when so many members are ready, whatever else is still going away.
func (s *story) ready(want int) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return harness.Words(object), len(object.Status.Members.Ready) == want && int(object.Status.Size) == want
	}
}

// TestQuorumLost freezes two of three members: nothing may be changed, and status must say who is missing since when.
func TestQuorumLost(t *testing.T) {
	s := begin(t, "quorum", onVolumes(3))
	s.settled()
	before := map[string]string{}
	for _, name := range []string{"quorum-0", "quorum-1", "quorum-2"} {
		before[name] = s.member(name).ID
	}
	for _, name := range []string{"quorum-0", "quorum-1"} {
		must(t, nodes.FreezeContainer(t.Context(), s.Namespace+"/"+name+"/etcd"))
	}
	s.resize(5)
	s.says(v1beta2.ConditionAvailable, v1beta2.ReasonQuorumLost)
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	words := harness.Words(object)
	if object.Status.QuorumLostSince == nil || object.Status.Phase != v1beta2.ClusterPhaseUnavailable ||
		!strings.Contains(words, "quorum-0, quorum-1") {
		t.Errorf("status does not tell who is missing since when: %s, %+v", words, object.Status)
	}
	for _, name := range []string{"quorum-0", "quorum-1"} {
		must(t, nodes.ThawContainer(t.Context(), s.Namespace+"/"+name+"/etcd"))
	}
	s.healthy("thawed, and grown as asked meanwhile")
	for name, id := range before {
		if got := s.member(name).ID; got != id {
			t.Errorf("member %s had the ID %s and has %s: it was replaced without need", name, id, got)
		}
	}
}

// TestWipedVolume empties a volume under a running member and kills its process: it must not come back as itself.
func TestWipedVolume(t *testing.T) {
	s := begin(t, "wiped", onVolumes(3))
	s.settled()
	s.client()
	before, gone := s.member("wiped-1").ID, s.pod("wiped-1").UID
	must(t, nodes.WipeVolume(t.Context(), s.Namespace+"/wiped-1"))
	must(t, nodes.KillContainer(t.Context(), s.Namespace+"/wiped-1/etcd"))
	must(t, s.Recovered(t.Context(), gone, limit))
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	for _, m := range object.Status.MemberStatuses {
		if m.ID == before {
			t.Errorf("%s came back on an empty volume under the old ID", m.Name)
		}
	}
	s.report("a volume wiped under a running member")
}

// TestDataLost kills the only copy: the operator must say so, and never start empty in its place.
func TestDataLost(t *testing.T) {
	s := begin(t, "only", v1beta2.EtcdClusterSpec{Size: 1})
	s.settled()
	must(t, s.KillPod(t.Context(), "only-0"))
	s.says(v1beta2.ConditionDegraded, v1beta2.ReasonDataLost)
	pods, err := s.Pods(t.Context())
	must(t, err)
	if len(pods) != 0 {
		t.Errorf("%d pods were started over lost data", len(pods))
	}
}
