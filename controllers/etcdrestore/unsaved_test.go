package etcdrestore_test

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// unsaved goes on where there is nothing to save, or where it need not be saved, and stops where it cannot be.
func (s *stage) unsaved(t *testing.T) {
	s.running(t, "mute", false)
	s.from(t, "disaster", "mute", nil)
	s.verified(t, "disaster")
	const silence = v1beta2.ReasonEtcdUnreachable
	s.sixTries(t, "disaster", silence) // a node may take its time to come back
	o := s.untilPhase(t, "disaster", v1beta2.RestoreReplacing)
	if !s.warned("what it held is not saved: it is unreachable") || o.Status.Unsaved != "it is unreachable" {
		t.Errorf("it is %s; the events are %q", pretty(o), s.events)
	}

	s.running(t, "full", true)
	s.from(t, "careful", "full", nil)
	s.verified(t, "careful")
	s.fails(t, "careful", v1beta2.ReasonStorageReadOnly)
	s.says(t, s.untilPhase(t, "careful", v1beta2.RestoreFailed), v1beta2.ReasonStorageReadOnly, "spec.safetySnapshot: Skip")

	s.from(t, "careless", "full", func(spec *v1beta2.EtcdRestoreSpec) { spec.SafetySnapshot = v1beta2.SafetySnapshotSkip })
	s.verified(t, "careless")
	if o := s.untilPhase(t, "careless", v1beta2.RestoreReplacing); o.Status.SafetySnapshot != nil || o.Status.Run != nil {
		t.Errorf("it was to be skipped: %s", pretty(o))
	}
	s.answered(t)
	s.volatile(t)
}

// sixTries has all attempts but the last fail for a reason, and that one because no one answers.
func (s *stage) sixTries(t *testing.T, name, reason string) {
	t.Helper()
	fails := func(reason string) {
		t.Helper()
		pod, _ := s.untilPod(t, name)
		s.Ends(t, pod, task.Result{Failure: &failure.Problem{Reason: reason, Message: "it is unreachable"}})
	}
	for range 5 {
		fails(reason)
		s.untilSays(t, name, v1beta2.ReasonWaitingForRetry)
		s.clock.SetTime(s.clock.Now().Add(5 * time.Minute))
	}
	fails(v1beta2.ReasonEtcdUnreachable)
}

// answered wants data to be saved that an attempt has reached, though no one answers the last one.
func (s *stage) answered(t *testing.T) {
	s.running(t, "answered", false)
	s.from(t, "once", "answered", nil)
	s.verified(t, "once")
	s.sixTries(t, "once", v1beta2.ReasonStorageFull)
	s.says(t, s.untilPhase(t, "once", v1beta2.RestoreFailed), v1beta2.ReasonEtcdUnreachable, "nothing was done to the cluster")
}

// volatile wants nothing to be replaced that is on an emptyDir and was not saved, or perhaps not all of it: there would be no volume
// to keep. With the pod the data is gone, too.
func (s *stage) volatile(t *testing.T) {
	c := s.running(t, "volatile", false)
	pod := s.permit(t, c, "volatile-0", false)
	const silence = v1beta2.ReasonEtcdUnreachable
	s.from(t, "on-emptydir", "volatile", nil)
	s.verified(t, "on-emptydir")
	s.sixTries(t, "on-emptydir", silence)
	s.says(t, s.untilPhase(t, "on-emptydir", v1beta2.RestoreFailed), silence, "volatile-0 may have it on an emptyDir")

	s.from(t, "cut-off", "volatile", nil)
	s.verified(t, "cut-off")
	agent, _ := s.untilPod(t, "cut-off")
	old := controllertest.SnapshotOf("safe.db")
	old.Stale = true
	s.Ends(t, agent, task.Result{Snapshot: old})
	s.says(t, s.untilPhase(t, "cut-off", v1beta2.RestoreFailed), v1beta2.ReasonStaleBackup,
		"volatile-0 may have it on an emptyDir, where it is gone for good once the pod is; bring a quorum of its members back first")

	must(t, s.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	s.from(t, "of-nothing", "volatile", nil)
	s.verified(t, "of-nothing")
	s.sixTries(t, "of-nothing", silence)
	s.untilPhase(t, "of-nothing", v1beta2.RestoreReplacing)

	s.permit(t, s.running(t, "asked-early", true), "asked-early-0", false)
	o := s.from(t, "early-asked", "asked-early", nil)
	s.verified(t, o.Name)
	s.asks(t, o.Name, "http://asked-early-0.asked-early.test.svc:2379")
	o = s.untilPhase(t, o.Name, v1beta2.RestoreReplacing)
	o.Status.SafetySnapshot.Stale = true // as an earlier operator would have gone on
	must(t, s.Status().Update(t.Context(), o))
	s.says(t, s.untilPhase(t, o.Name, v1beta2.RestoreFailed), v1beta2.ReasonStaleBackup, "nothing was done to the cluster")
}
