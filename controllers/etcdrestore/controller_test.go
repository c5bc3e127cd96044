package etcdrestore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// TestEtcdRestore plays restores on a real API server. The operator is started anew for each step.
func TestEtcdRestore(t *testing.T) {
	ctrl.SetLogger(testr.NewWithOptions(t, testr.Options{Verbosity: 1}))
	s, config := newStage(t)
	t.Run("a running cluster", s.inPlace)
	t.Run("its own process", func(t *testing.T) { s.process(t, config) })
	t.Run("snapshots that are no good", s.noGood)
	t.Run("tries", s.tries)
	t.Run("a pod's name that is taken", s.foreignPod)
	t.Run("pods that Kubernetes does not take", s.podRefused)
	t.Run("the clock is set back", s.clockBack)
	t.Run("the version is changed", s.otherVersion)
	t.Run("no room, or authentication", s.misfits)
	t.Run("the room is taken away", s.lessRoom)
	t.Run("an edit that is refused for the volumes", s.refusedEdit)
	t.Run("a snapshot of another cluster", s.ofAnother)
	t.Run("a snapshot of a cluster of the same name", s.ofNamesake)
	t.Run("the first member restores", s.memberRestores)
	t.Run("an EtcdBackup", s.ofBackup)
	t.Run("a stanza of coreos/etcd-operator", s.legacySource)
	t.Run("a cluster that is missing", s.missingCluster)
	t.Run("a cluster that is another one", s.otherCluster)
	t.Run("what a survivor holds", s.ofSurvivor)
	t.Run("a plan that is void", s.voidPlan)
	t.Run("not what a survivor holds", s.otherSnapshot)
	t.Run("two at once", s.two)
	t.Run("deletion", s.deletion)
	t.Run("deletion too late", s.goesOn)
	t.Run("nothing can be saved", s.unsaved)
	t.Run("members that no quorum has listed", s.unlisted)
	t.Run("a safety snapshot that has grown old", s.old)
	t.Run("a cluster that goes, or is paused", s.leaving)
	t.Run("objects of earlier operators", s.former)
	t.Run("applied twice", s.twice)
}

// inPlace is the whole story of a cluster that runs.
func (s *stage) inPlace(t *testing.T) {
	before := s.running(t, "c", true)
	s.from(t, "r", "c", func(spec *v1beta2.EtcdRestoreSpec) {
		spec.EncryptionSecretRef.Name, spec.Before = "key", &metav1.Time{Time: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}
	})
	pod, asked := s.untilPod(t, "r")
	o := s.restore(t, "r")
	if v := asked.Verify; v == nil || v.EtcdVersion != "3.6.4" || !v.Trial || !v.Before.Equal(o.Spec.Before.Time) ||
		!asked.Encrypted || asked.Storage != *o.Spec.Storage || asked.Writer.UID != string(o.UID) || asked.Timeout != time.Hour {
		t.Errorf("the first task is %+v, %+v", asked, asked.Verify)
	}
	if owner := metav1.GetControllerOf(pod); owner == nil || owner.UID != o.UID || pod.Labels[resources.LabelRestore] != "r" {
		t.Errorf("the pod is %+v", pod.ObjectMeta)
	}
	s.progresses(t, pod)
	s.Ends(t, pod, task.Result{Snapshot: controllertest.SnapshotOf("snap.db"), Warnings: []string{"an old one is damaged"}})
	o = s.untilPhase(t, "r", v1beta2.RestoreSaving)
	if from := o.Status.Source; from.Object != "snap.db" || len(from.SHA256) != 64 || from.EncryptionSecretRef.Name != "key" ||
		from.Storage != *o.Spec.Storage {
		t.Errorf("the source is %+v", from)
	}
	pod, asked = s.untilPod(t, "r")
	if b := asked.Backup; b == nil || len(b.Endpoints) != 1 || b.Endpoints[0] != "http://c-0.c.test.svc:2379" || !b.Compress ||
		b.Cluster.ID != before.Status.ClusterID || b.Policy.Last != 0 || !b.Shared || asked.Storage != o.Status.Source.Storage {
		t.Errorf("the second task is %+v, %+v", asked, asked.Backup)
	}
	if now := s.cluster(t, "c"); now.ResourceVersion != before.ResourceVersion {
		t.Errorf("the cluster was touched: %+v", now)
	}
	s.Ends(t, pod, task.Result{Snapshot: controllertest.SnapshotOf("safe.db")})
	o = s.untilPhase(t, "r", v1beta2.RestoreReplacing)
	if o.Status.SafetySnapshot == nil || o.Status.SafetySnapshot.Name != "safe.db" || len(o.Finalizers) != 1 {
		t.Errorf("it is %s, held by %v", pretty(o), o.Finalizers)
	}
	s.replaced(t, "r", "c")
	if !s.warned("an old one is damaged") {
		t.Errorf("the events are %q", s.events)
	}
}

// replaced plays the EtcdCluster's controller to the end.
func (s *stage) replaced(t *testing.T, name, cluster string) {
	t.Helper()
	o := s.untilPhase(t, name, v1beta2.RestoreReplacing)
	record := v1beta2.RestoreRecord{UID: string(o.UID), Name: name, Snapshot: o.Status.Source.Object}
	s.record(t, cluster, record, false)
	s.record(t, cluster, record, true)
	s.untilPhase(t, name, v1beta2.RestoreSucceeded)
	o = s.until(t, name, "its end", func(o *v1beta2.EtcdRestore) bool {
		return len(o.Finalizers) == 0 && len(s.podsOf(t.Context(), t, o)) == 0
	})
	if !o.Status.Succeeded || o.Status.Reason != "" || o.Status.CompletionTime == nil || o.Status.Run != nil ||
		!meta.IsStatusConditionTrue(o.Status.Conditions, v1beta2.ConditionRestored) ||
		meta.IsStatusConditionTrue(o.Status.Conditions, v1beta2.ConditionProgressing) {
		t.Errorf("it ends as %s", pretty(o))
	}
	if result := s.step(t, name); !result.IsZero() || s.restore(t, name).ResourceVersion != o.ResourceVersion {
		t.Errorf("it is not over: %+v", result)
	}
}

// progresses has an agent not answer at first, and then say how far it is.
func (s *stage) progresses(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	const ip = "127.0.0.71"
	s.Runs(t, pod, ip)
	if result := s.step(t, "r"); result.RequeueAfter != 5*time.Second {
		t.Errorf("a pod that does not answer is looked at again in %s", result.RequeueAfter)
	}
	controllertest.ServeProgress(t, ip, task.Progress{Step: task.StepReading, Bytes: 4711})
	s.answers(t, "r", func(run *v1beta2.AgentRun) bool { return run.Step == "Reading" && run.Bytes == 4711 })
}

// answers waits until the run says what its pod does, which is asked beside the steps.
func (s *stage) answers(t *testing.T, name string, holds func(*v1beta2.AgentRun) bool) {
	t.Helper()
	await(t, "an answer of the pod", func() error {
		s.step(t, name)
		if o := s.restore(t, name); o.Status.Run == nil || !holds(o.Status.Run) {
			return fmt.Errorf("it is %s", pretty(o))
		}
		return nil
	})
}

// noGood wants the cluster to be left alone.
func (s *stage) noGood(t *testing.T) {
	before := s.running(t, "untouched", true)
	for i, reason := range []string{
		v1beta2.ReasonSnapshotDamaged, v1beta2.ReasonSnapshotVersion, v1beta2.ReasonEncryptionKeyRefused, v1beta2.ReasonNoSuchObject,
	} {
		name := fmt.Sprintf("no-good-%d", i)
		s.from(t, name, "untouched", nil)
		s.fails(t, name, reason)
		o := s.untilPhase(t, name, v1beta2.RestoreFailed)
		s.says(t, o, reason, "nothing was done to the cluster")
		if o.Status.CompletionTime == nil || len(o.Finalizers) != 0 || o.Status.Snapshot != nil || !s.warned("it is "+reason) {
			t.Errorf("it ends as %s", pretty(o))
		}
	}
	s.from(t, "no-reason", "untouched", nil)
	s.fails(t, "no-reason", "no reason for a condition")
	s.says(t, s.untilPhase(t, "no-reason", v1beta2.RestoreFailed), v1beta2.ReasonSnapshotFailed, "no reason for a condition")
	if now := s.cluster(t, "untouched"); now.ResourceVersion != before.ResourceVersion {
		t.Errorf("the cluster was touched: %+v", now)
	}
}

// says wants the condition and the legacy field to say why.
func (s *stage) says(t *testing.T, o *v1beta2.EtcdRestore, reason, message string) {
	t.Helper()
	c := meta.FindStatusCondition(o.Status.Conditions, v1beta2.ConditionRestored)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason != reason ||
		!strings.Contains(c.Message, message) || o.Status.Reason != c.Message {
		t.Errorf("it says %s, want %s %q", pretty(o), reason, message)
	}
}

// tries wants a pod that was killed to be tried again, later, and to be tried no more after six times.
func (s *stage) tries(t *testing.T) {
	s.running(t, "tried", true)
	s.from(t, "tries", "tried", nil)
	names := map[string]bool{}
	for attempt := range 6 {
		pod, _ := s.untilPod(t, "tries")
		if o := s.restore(t, "tries"); names[pod.Name] || int(o.Status.Run.Attempt) != attempt+1 {
			t.Fatalf("try %d: %s", attempt+1, pretty(o))
		}
		names[pod.Name] = true
		s.Dies(t, pod, corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137})
		if attempt == 5 {
			break
		}
		o := s.untilSays(t, "tries", v1beta2.ReasonWaitingForRetry)
		if !strings.Contains(o.Status.Reason, "OOMKilled") || len(s.podsOf(t.Context(), t, o)) != 1 {
			t.Errorf("between tries it says %s", pretty(o))
		}
		result := s.step(t, "tries")
		if result.RequeueAfter <= 0 || result.RequeueAfter > 5*time.Minute {
			t.Errorf("it looks again in %s", result.RequeueAfter)
		}
		s.clock.SetTime(s.clock.Now().Add(result.RequeueAfter))
	}
	s.says(t, s.untilPhase(t, "tries", v1beta2.RestoreFailed), v1beta2.ReasonAgentLost, "OOMKilled")
}

// twice wants the same manifest to change nothing, and another one under the same name to be refused.
func (s *stage) twice(t *testing.T) {
	o := s.restore(t, "careless")
	manifest := &v1beta2.EtcdRestore{ObjectMeta: object("careless"), Spec: *o.Spec.DeepCopy()}
	manifest.ResourceVersion = o.ResourceVersion
	manifest.Finalizers = o.Finalizers
	must(t, s.Update(t.Context(), manifest))
	if manifest.Generation != o.Generation || manifest.Status.Phase != o.Status.Phase {
		t.Errorf("it has become %+v", manifest)
	}
	manifest.Spec.Snapshot = "another"
	if err := s.Update(t.Context(), manifest); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "create another one") {
		t.Errorf("its spec is changed: %v", err)
	}
}
