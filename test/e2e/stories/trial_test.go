package stories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// ready waits until every node and the operator are, whatever an earlier story did to them.
func ready(t *testing.T) {
	t.Helper()
	must(t, harness.Await(t.Context(), "every node is ready", limit, func(ctx context.Context) (string, bool) {
		list, err := env.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error(), false
		}
		for _, n := range list.Items {
			for _, c := range n.Status.Conditions {
				if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue || n.Spec.Unschedulable {
					return n.Name + " is not ready", false
				}
			}
		}
		return "", true
	}))
	must(t, harness.Await(t.Context(), "the operator is ready", limit, func(ctx context.Context) (string, bool) {
		pods, err := operators(ctx)
		return fmt.Sprintf("%d operators, %v", len(pods), err), err == nil && len(pods) > 0 &&
			!slices.ContainsFunc(pods, func(p corev1.Pod) bool { return !isReady(p) })
	}))
}

func operators(ctx context.Context) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := env.List(ctx, pods, ctrlclient.InNamespace(harness.OperatorNamespace))
	return pods.Items, err
}

func isReady(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// clientBesideOperator starts the client on the operator's node, so that all other nodes are free to be harmed, and
// what is measured is the members' loss alone.
func (s *trial) clientBesideOperator() {
	s.t.Helper()
	pods, err := operators(s.t.Context())
	must(s.t, err)
	s.writer, err = s.NewWriter(s.t.Context(), pods[0].Spec.NodeName)
	must(s.t, err)
}

// hold keeps the harm up for a time that the story is about.
func (s *trial) hold(d time.Duration) {
	s.t.Helper()
	select {
	case <-s.t.Context().Done():
		s.t.Fatal(s.t.Context().Err())
	case <-time.After(d):
	}
}

// worked holds when so many of the client's operations have succeeded.
func (s *story) worked(want int64) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		r, err := s.writer.Peek(ctx)
		return fmt.Sprintf("%s, %v", r, err), err == nil && r.Operations-r.Failures >= want
	}
}

// notices waits until the operator calls the cluster degraded for a member that is down, and the message holds some
// words.
func (s *trial) notices(words string) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "a member is called down", limit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		c := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionDegraded)
		return harness.Words(object), c != nil && c.Reason == v1beta2.ReasonMemberDown && strings.Contains(c.Message, words)
	}))
	s.noticing()
}

// follower is a pod of a member that does not lead, on a node without the client.
func (s *trial) follower() corev1.Pod {
	s.t.Helper()
	leader := s.leader()
	for _, p := range s.elsewhere() {
		if p.Name != leader.Name {
			return p
		}
	}
	s.t.Fatal("no follower is away from the client")
	return corev1.Pod{}
}

// leaderElsewhere makes a member lead that is on a node without the client, and returns its pod.
func (s *trial) leaderElsewhere() corev1.Pod {
	s.t.Helper()
	candidates := s.elsewhere()
	leader := s.leader()
	if slices.ContainsFunc(candidates, func(p corev1.Pod) bool { return p.Name == leader.Name }) {
		return leader
	}
	must(s.t, s.MoveLeader(s.t.Context(), candidates[0]))
	must(s.t, harness.Await(s.t.Context(), candidates[0].Name+" leads", limit, s.leads(candidates[0].Name)))
	return candidates[0]
}

// elsewhere are the members' pods on nodes without the client and the operator.
func (s *trial) elsewhere() []corev1.Pod {
	s.t.Helper()
	node := s.pod(s.Name + "-test-client").Spec.NodeName
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName == node })
	if len(pods) == 0 {
		s.t.Fatalf("all members are on the client's node %s", node)
	}
	return pods
}

func (s *trial) leader() corev1.Pod {
	s.t.Helper()
	var leader *corev1.Pod
	must(s.t, harness.Await(s.t.Context(), "somebody leads", limit, func(ctx context.Context) (string, bool) {
		var err error
		leader, err = s.Leader(ctx)
		return fmt.Sprint(err), err == nil
	}))
	return *leader
}

func (s *trial) leads(name string) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		leader, err := s.Leader(ctx)
		return fmt.Sprint(err), err == nil && leader.Name == name
	}
}

func (s *trial) anotherLeads(than string) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		leader, err := s.Leader(ctx)
		return fmt.Sprint(err), err == nil && leader.Name != than
	}
}

// ended holds when the pod is terminating, or gone.
func (s *trial) ended(uid types.UID) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		pods, err := s.Pods(ctx)
		return fmt.Sprint(err), err == nil && !slices.ContainsFunc(pods, func(p corev1.Pod) bool {
			return p.UID == uid && p.DeletionTimestamp == nil
		})
	}
}

// container is how the lab calls a pod's etcd.
func (s *trial) container(pod string) string { return s.Namespace + "/" + pod + "/etcd" }

// same checks that no one was replaced.
func (s *trial) same(before map[string]string) {
	s.t.Helper()
	for name, id := range before {
		if got := s.identities()[name]; got != id {
			s.t.Errorf("member %s had the ID %s and has %q: it was replaced without need", name, id, got)
		}
	}
}

// replaced waits until no pod has the UID any more and the cluster is as asked for.
func (s *trial) replaced(gone types.UID) {
	s.t.Helper()
	must(s.t, s.Recovered(s.t.Context(), gone, limit))
	s.mended = time.Now()
}

// healsAtEnd undoes whatever is done to a node, whatever becomes of the story.
func (s *trial) healsAtEnd(node string) {
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := nodes.Faults().HealNode(ctx, node); err != nil {
			s.t.Error(err)
		}
	})
}

// thaw lets a frozen container go on, whatever became of the story.
func thaw(s *trial, pod string) {
	if !s.t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s.t.Logf("thawed at the end: %v", nodes.Faults().ThawContainer(ctx, s.container(pod)))
}
