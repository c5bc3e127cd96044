package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

func TestCreateKillResize(t *testing.T) {
	t.Parallel()
	s := begin(t, "life", v1beta2.EtcdClusterSpec{Size: 3, Version: "3.6.16"})
	s.settled()
	s.client()

	gone := s.pod("life-1").UID
	must(t, s.KillPod(t.Context(), "life-1"))
	must(t, s.Recovered(t.Context(), gone, limit))
	s.report("a member on an emptyDir killed and replaced")

	start := time.Now()
	s.resize(5)
	s.healthy("3 to 5")
	t.Logf("3 to 5 took %.1f s", time.Since(start).Seconds())
	s.report("3 to 5")
	s.settled()

	start = time.Now()
	s.resize(3)
	s.healthy("5 to 3")
	t.Logf("5 to 3 took %.1f s", time.Since(start).Seconds())
	s.report("5 to 3")
	s.settled()

	budget := &policyv1.PodDisruptionBudget{}
	must(t, s.Client.Get(t.Context(), client.ObjectKey{Namespace: s.Namespace, Name: "life"}, budget))
	if got := budget.Spec.MinAvailable.IntValue(); got != 2 {
		t.Errorf("minAvailable at rest is %d, want 2", got)
	}
	s.spreadOut()
}

// spreadOut checks that three members are on three nodes.
func (s *story) spreadOut() {
	s.t.Helper()
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	used := map[string]bool{}
	for _, p := range pods {
		used[p.Spec.NodeName] = true
	}
	if len(used) < 2 {
		s.t.Errorf("all members are on one node: %v", used)
	}
}

func TestTwoOfFiveAtOnce(t *testing.T) {
	t.Parallel()
	s := begin(t, "two", v1beta2.EtcdClusterSpec{Size: 5})
	s.settled()
	s.client()
	gone := s.pod("two-3").UID
	must(t, s.KillPod(t.Context(), "two-1"))
	must(t, s.KillPod(t.Context(), "two-3"))
	must(t, s.Recovered(t.Context(), gone, limit))
	s.report("two of five members on emptyDirs killed at once and replaced")
}

func TestEveryMinor(t *testing.T) {
	t.Parallel()
	for version, name := range map[string]string{"3.5.35": "three-five", "v3.7.3": "three-seven"} {
		t.Run(version, func(t *testing.T) {
			s := begin(t, name, v1beta2.EtcdClusterSpec{Size: 1, Version: version})
			s.settled()
			s.client()
			s.resize(3)
			s.healthy("1 to 3")
			s.report("1 to 3")
			if got := s.member(name + "-2").Version; got != strings.TrimPrefix(version, "v") {
				t.Errorf("the new member runs %s, want %s", got, version)
			}
		})
	}
}

func TestVolumes(t *testing.T) {
	t.Parallel()
	s := begin(t, "volumes", onVolumes(3))
	s.settled()
	s.client()

	member, claim, gone := s.member("volumes-1").ID, s.claim("volumes-1").UID, s.pod("volumes-1").UID
	must(t, s.KillPod(t.Context(), "volumes-1"))
	must(t, s.Recovered(t.Context(), gone, limit))
	s.report("a member on a volume killed")
	if s.member("volumes-1").ID != member || s.claim("volumes-1").UID != claim {
		t.Error("the member came back with another identity or volume")
	}

	gone = s.pod("volumes-2").UID
	pods, err := s.Pods(t.Context())
	must(t, err)
	for _, p := range pods {
		must(t, s.KillPod(t.Context(), p.Name))
	}
	must(t, s.Recovered(t.Context(), gone, limit))
	s.report("all pods killed at once")
	if s.member("volumes-1").ID != member {
		t.Error("the member came back with another identity")
	}
	s.settled()

	gone = s.pod("volumes-0").UID
	must(t, s.Client.Delete(t.Context(), s.claim("volumes-0")))
	must(t, s.KillPod(t.Context(), "volumes-0"))
	must(t, s.Recovered(t.Context(), gone, limit))
	s.report("a volume lost and its member replaced")
}

func TestTerminalPod(t *testing.T) {
	t.Parallel()
	s := begin(t, "terminal", onVolumes(3))
	s.settled()
	s.client()
	pod := s.pod("terminal-1")
	gone := pod.UID
	// What a graceful node shutdown or an eviction leaves: a pod in a terminal phase that never starts again.
	pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Terminated"
	_, err := env.Kube.CoreV1().Pods(s.Namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	must(t, err)
	must(t, s.Recovered(t.Context(), gone, limit))
	s.report("a pod left in a terminal phase")
}

func TestRetain(t *testing.T) {
	t.Parallel()
	spec := onVolumes(3)
	spec.VolumeReclaimPolicy = v1beta2.VolumeReclaimRetain
	s := begin(t, "retain", spec)
	s.settled()
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	must(t, s.Remove(t.Context(), limit))
	spec.Version = "3.7.3" // the data was written by 3.6: it starts with that, and is updated then
	again, err := env.NewCluster(t.Context(), s.Namespace, s.Name, spec)
	must(t, err)
	must(t, again.Healthy(t.Context(), limit))
	back, err := again.Get(t.Context())
	must(t, err)
	if back.Status.ClusterID != object.Status.ClusterID || back.UID == object.UID {
		t.Errorf("cluster ID %s became %s", object.Status.ClusterID, back.Status.ClusterID)
	}
	must(t, again.Settled(t.Context(), limit))
	back, err = again.Get(t.Context())
	must(t, err)
	if back.Status.CurrentVersion != "3.7.3" {
		t.Errorf("version %s became %s, want 3.7.3", object.Status.CurrentVersion, back.Status.CurrentVersion)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	s := begin(t, "pause", v1beta2.EtcdClusterSpec{Size: 1})
	s.settled()
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Paused, spec.Size = true, 3 }))
	s.says(v1beta2.ConditionProgressing, v1beta2.ReasonPaused)
	pods, err := s.Pods(t.Context())
	must(t, err)
	if len(pods) != 1 {
		t.Errorf("a paused cluster grew to %d pods", len(pods))
	}
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Paused = false }))
	s.healthy("unpaused")
}

func TestOperatorKilledAllTheWhile(t *testing.T) {
	name := "restless"
	cluster, err := env.NewCluster(t.Context(), "story-"+name, name, onVolumes(3))
	must(t, err)
	s := &story{Cluster: cluster, t: t}
	t.Cleanup(func() {
		if t.Failed() {
			describe(t, cluster)
		}
		deleteNamespace(t, cluster.Namespace)
	})
	for i := range 12 {
		if i == 6 {
			must(t, s.Healthy(t.Context(), limit))
			s.resize(5)
		}
		s.killOperator()
		must(t, harness.Await(t.Context(), "a moment of work for the new operator", limit, s.someEvent()))
	}
	s.healthy("the operator left alone")
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	if object.Status.Bootstrap.Incarnation != 1 {
		t.Errorf("the bootstrap took %d attempts", object.Status.Bootstrap.Incarnation)
	}
}

func (s *story) killOperator() {
	s.t.Helper()
	now := int64(0)
	pods := &corev1.PodList{}
	must(s.t, env.List(s.t.Context(), pods, client.InNamespace(harness.OperatorNamespace)))
	for _, p := range pods.Items {
		err := env.Kube.CoreV1().Pods(p.Namespace).Delete(s.t.Context(), p.Name,
			metav1.DeleteOptions{GracePeriodSeconds: &now})
		must(s.t, client.IgnoreNotFound(err))
	}
}

// someEvent holds once the operator has told one more thing about the cluster than before, or has nothing to do.
func (s *story) someEvent() func(context.Context) (string, bool) {
	s.t.Helper()
	before := s.events(s.t.Context())
	return func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		now := s.events(ctx)
		idle := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionProgressing)
		return fmt.Sprintf("%d events", now), now > before || idle != nil && idle.Reason == v1beta2.ReasonSpecReached
	}
}

func (s *story) events(ctx context.Context) int {
	events, err := env.Kube.EventsV1().Events(s.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0
	}
	n := 0
	for _, e := range events.Items {
		if e.Regarding.Kind == "EtcdCluster" {
			n++
		}
	}
	return n
}
