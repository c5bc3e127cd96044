package etcdrestore_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// foreignPod has someone else hold the name of the first attempt's pod, and someone take the labels off the second one's.
func (s *stage) foreignPod(t *testing.T) {
	s.running(t, "guarded", true)
	s.from(t, "taken", "guarded", nil)
	started := func(attempt int32) string {
		return s.until(t, "taken", "a try", func(o *v1beta2.EtcdRestore) bool {
			return o.Status.Run != nil && o.Status.Run.Attempt == attempt && o.Status.Run.RetryTime == nil
		}).Status.Run.Pod
	}
	again := func(message string) {
		t.Helper()
		o := s.until(t, "taken", "a failure", func(o *v1beta2.EtcdRestore) bool { return o.Status.Run.RetryTime != nil })
		s.says(t, o, v1beta2.ReasonNameTaken, message)
		if result := s.step(t, "taken"); result.RequeueAfter < 9*time.Second || !s.warned(message) {
			t.Errorf("it looks again in %s; the events are %q", result.RequeueAfter, s.events)
		}
		s.clock.SetTime(s.clock.Now().Add(time.Minute))
	}
	foreign := &corev1.Pod{ObjectMeta: object(started(1))}
	foreign.Spec.Containers = []corev1.Container{{Name: "theirs", Image: "theirs"}}
	restricted(&foreign.Spec)
	must(t, s.Create(t.Context(), foreign))
	again("Pod " + foreign.Name + " belongs to no controller, and EtcdRestore taken needs that name: delete it")

	started(2)
	pod, _ := s.untilPod(t, "taken")
	delete(pod.Labels, resources.LabelRestore)
	must(t, s.Update(t.Context(), pod))
	again("Pod " + pod.Name + " has lost the labels")

	s.verified(t, "taken")
	must(t, s.Get(t.Context(), key(foreign.Name), foreign))
}

// clockBack sets the clock back by hours under a pod that never ends: its time is up no later for that.
func (s *stage) clockBack(t *testing.T) {
	s.running(t, "ticking", true)
	s.from(t, "back", "ticking", nil)
	pod, _ := s.untilPod(t, "back")
	s.Runs(t, pod, "127.0.0.72")
	s.step(t, "back")
	now := s.clock.Now()
	defer s.clock.SetTime(now)
	s.clock.SetTime(now.Add(-5 * time.Hour).Truncate(time.Second))
	s.until(t, "back", "a new count", func(o *v1beta2.EtcdRestore) bool { return o.Status.Run.AttemptStartTime.Time.Equal(s.clock.Now()) })
	s.clock.SetTime(s.clock.Now().Add(time.Hour + 8*time.Minute))
	s.says(t, s.untilSays(t, "back", v1beta2.ReasonTimeout), v1beta2.ReasonTimeout, "did not end after 1h0m0s")
}

// otherVersion has the cluster's version changed after the snapshot was verified, to one that fits and to one that does not.
func (s *stage) otherVersion(t *testing.T) {
	s.running(t, "edited", true)
	s.from(t, "unfit", "edited", nil)
	pod, _ := s.untilPod(t, "unfit")
	s.Ends(t, pod, task.Result{Snapshot: controllertest.SnapshotOf("snap.db"), DataVersion: "3.6"})
	s.untilPhase(t, "unfit", v1beta2.RestoreSaving)
	edit := func(version string) {
		c := s.cluster(t, "edited")
		c.Spec.Version = version
		must(t, s.Update(t.Context(), c))
	}
	edit("3.6.16")
	pod, _ = s.untilPod(t, "unfit")
	s.Ends(t, pod, task.Result{Snapshot: controllertest.SnapshotOf("safe.db")})
	s.until(t, "unfit", "the guard", func(o *v1beta2.EtcdRestore) bool { return len(o.Finalizers) > 0 })
	edit("3.5.32")
	before := s.cluster(t, "edited")
	o := s.untilPhase(t, "unfit", v1beta2.RestoreFailed)
	s.says(t, o, v1beta2.ReasonSnapshotVersion, "set the version to 3.6 or later; nothing was done to the cluster")
	s.until(t, "unfit", "its release", func(o *v1beta2.EtcdRestore) bool { return len(o.Finalizers) == 0 })
	if now := s.cluster(t, "edited"); now.ResourceVersion != before.ResourceVersion {
		t.Errorf("the cluster was touched: %+v", now)
	}
}

// ofAnother wants it to be said whose data it is, and a warning where it replaces data that is there.
func (s *stage) ofAnother(t *testing.T) {
	c := s.running(t, "target", true)
	for of, want := range map[string]string{
		namespace + "/other": "the snapshot of EtcdCluster " + namespace + "/other is good", "c0ffee": "the snapshot of the etcd cluster c0ffee",
		namespace + "/target": "", strings.TrimLeft(c.Status.ClusterID, "0"): "", "": "",
	} {
		s.events = nil
		name := "of-" + strings.NewReplacer("/", "-").Replace("x"+of)
		s.from(t, name, "target", func(spec *v1beta2.EtcdRestoreSpec) { spec.SafetySnapshot = v1beta2.SafetySnapshotSkip })
		pod, _ := s.untilPod(t, name)
		found := controllertest.SnapshotOf("snap.db")
		found.Cluster = of
		s.Ends(t, pod, task.Result{Snapshot: found})
		if o := s.untilPhase(t, name, v1beta2.RestoreReplacing); o.Status.Snapshot.Cluster != of {
			t.Errorf("it is %s", pretty(o))
		}
		if warned := s.warned("the snapshot of"); warned != (want != "") || want != "" && !s.warned(want) {
			t.Errorf("of %q: the events are %q", of, s.events)
		}
		s.replaced(t, name, "target")
		done := meta.FindStatusCondition(s.restore(t, name).Status.Conditions, v1beta2.ConditionRestored)
		if strings.Contains(done.Message, "other") != strings.Contains(of, "other") {
			t.Errorf("of %q: it ends with %q", of, done.Message)
		}
	}
	must(t, s.Create(t.Context(), &v1beta2.EtcdCluster{ObjectMeta: object("drill"), Spec: v1beta2.EtcdClusterSpec{Size: 1}}))
	s.from(t, "drill", "drill", nil)
	s.events = nil
	pod, _ := s.untilPod(t, "drill")
	found := controllertest.SnapshotOf("snap.db")
	found.Cluster = namespace + "/other"
	s.Ends(t, pod, task.Result{Snapshot: found})
	s.untilPhase(t, "drill", v1beta2.RestoreReplacing)
	if s.warned("EtcdCluster") || !strings.Contains(strings.Join(s.events, "\n"), "of EtcdCluster "+namespace+"/other") {
		t.Errorf("into a new cluster: the events are %q", s.events)
	}
}

// ofNamesake wants it to be said that a snapshot is of a cluster of the same name that is gone, and not where the data has
// come from it.
func (s *stage) ofNamesake(t *testing.T) {
	s.running(t, "namesake", true)
	for i, name := range []string{"unknown", "known"} {
		known := i == 1
		if s.events = nil; known {
			s.record(t, "namesake", v1beta2.RestoreRecord{UID: "x", Name: "x", Snapshot: "x", SourceClusterID: "000beef"}, true)
		}
		s.from(t, name, "namesake", nil)
		pod, _ := s.untilPod(t, name)
		found := controllertest.SnapshotOf("snap.db")
		found.Cluster, found.ClusterID = namespace+"/namesake", "beef"
		s.Ends(t, pod, task.Result{Snapshot: found})
		s.untilPhase(t, name, v1beta2.RestoreSaving)
		if s.warned("under another cluster ID, beef") == known {
			t.Errorf("%s: the events are %q", name, s.events)
		}
		must(t, s.Delete(t.Context(), s.restore(t, name)))
	}
}

// memberRestores shows how far the first member is.
func (s *stage) memberRestores(t *testing.T) {
	s.running(t, "growing", true)
	s.from(t, "grown", "growing", func(spec *v1beta2.EtcdRestoreSpec) { spec.SafetySnapshot = v1beta2.SafetySnapshotSkip })
	s.verified(t, "grown")
	o := s.untilPhase(t, "grown", v1beta2.RestoreReplacing)
	c := s.cluster(t, "growing")
	c.Status.Bootstrap = &v1beta2.BootstrapStatus{
		Incarnation: 2, Token: "token", Members: []string{"growing-2"}, ClusterID: "1", Restore: string(o.UID),
	}
	must(t, s.Status().Update(t.Context(), c))
	if s.step(t, "grown"); s.restore(t, "grown").Status.Run != nil {
		t.Errorf("nobody is at work yet: %s", pretty(s.restore(t, "grown")))
	}
	pod := &corev1.Pod{ObjectMeta: object("growing-2")}
	pod.Spec.InitContainers = []corev1.Container{{Name: resources.RestoreContainerName, Image: "operator"}}
	pod.Spec.Containers = []corev1.Container{{Name: resources.EtcdContainer, Image: "etcd"}}
	restricted(&pod.Spec)
	must(t, s.Create(t.Context(), pod))
	const ip = "127.0.0.73"
	controllertest.ServeProgress(t, ip, task.Progress{Step: task.StepReading, Bytes: 4711})
	state := func(state corev1.ContainerState) {
		pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name: resources.RestoreContainerName, Image: "operator", RestartCount: 1, State: state,
		}}
		must(t, s.Status().Update(t.Context(), pod))
	}
	state(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}})
	s.answers(t, "grown", func(run *v1beta2.AgentRun) bool {
		return run.Pod == "growing-2" && run.Attempt == 2 && run.Step == "Reading" && run.Bytes == 4711
	})
	state(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}})
	s.until(t, "grown", "the end of it", func(o *v1beta2.EtcdRestore) bool { return o.Status.Run == nil })
	s.replaced(t, "grown", "growing")
}

// restricted has a pod taken by the namespace.
func restricted(spec *corev1.PodSpec) {
	yes, no := true, false
	spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	for _, all := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range all {
			all[i].SecurityContext = &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}
		}
	}
}
