package etcdrestore_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// deletion cancels a restore, as long as it can be.
func (s *stage) deletion(t *testing.T) {
	s.running(t, "kept", true)
	gone := func(name string) {
		t.Helper()
		must(t, s.Delete(t.Context(), s.restore(t, name)))
		s.step(t, name)
		if err := s.Get(t.Context(), key(name), &v1beta2.EtcdRestore{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	s.from(t, "d1", "kept", nil)
	s.untilPod(t, "d1")
	gone("d1")

	s.from(t, "d2", "kept", nil)
	s.verified(t, "d2")
	s.untilPhase(t, "d2", v1beta2.RestoreSaving)
	pod, _ := s.untilPod(t, "d2")
	s.Ends(t, pod, task.Result{Snapshot: controllertest.SnapshotOf("safe.db")})
	s.until(t, "d2", "the guard", func(o *v1beta2.EtcdRestore) bool { return len(o.Finalizers) > 0 })
	gone("d2") // guarded, but nothing was done yet

	s.calledOff(t)
}

// calledOff deletes a restore that has come to Replacing: before the cluster has taken it up, while the cluster can go back, and
// when it cannot any more.
func (s *stage) calledOff(t *testing.T) {
	begin := func(name string) *v1beta2.EtcdRestore {
		t.Helper()
		s.from(t, name, "kept", func(spec *v1beta2.EtcdRestoreSpec) { spec.SafetySnapshot = v1beta2.SafetySnapshotSkip })
		s.verified(t, name)
		return s.untilPhase(t, name, v1beta2.RestoreReplacing)
	}
	goes := func(name string) {
		t.Helper()
		for range 3 {
			s.step(t, name)
		}
		if o := (&v1beta2.EtcdRestore{}); !apierrors.IsNotFound(s.Get(t.Context(), key(name), o)) {
			t.Errorf("it does not go: %s", pretty(o))
		}
	}
	must(t, s.Delete(t.Context(), begin("d3")))
	goes("d3")

	o := begin("d4")
	record := v1beta2.RestoreRecord{UID: string(o.UID), Name: "d4", Snapshot: "snap.db"}
	was := s.attempt(t, "kept", record)
	must(t, s.Delete(t.Context(), o))
	s.says(t, s.untilSays(t, "d4", v1beta2.ReasonRestoreCalledOff), v1beta2.ReasonRestoreCalledOff, "goes back to what it held")
	for range 3 {
		s.step(t, "d4")
	}
	if o = s.restore(t, "d4"); o.Status.Phase != v1beta2.RestoreReplacing {
		t.Errorf("it does not stay until the cluster goes back: %s", pretty(o))
	}
	record.CalledOff = &v1beta2.RestoreCalledOff{
		Reason: v1beta2.ReasonRestoreCalledOff, Message: "EtcdRestore d4 was deleted", StartTime: metav1.NewTime(s.clock.Now()),
	}
	c := s.cluster(t, "kept")
	c.Status.Former, c.Status.Bootstrap, c.Status.ClusterID = nil, nil, was
	must(t, s.Status().Update(t.Context(), c))
	s.record(t, "kept", record, false)
	s.says(t, s.untilPhase(t, "d4", v1beta2.RestoreFailed), v1beta2.ReasonRestoreCalledOff, "resumes with its previous data")
	goes("d4")

	o = begin("d5")
	record = v1beta2.RestoreRecord{UID: string(o.UID), Name: "d5", Snapshot: "snap.db"}
	s.attempt(t, "kept", record)
	c = s.cluster(t, "kept")
	c.Status.Former, c.Status.ClusterID = nil, "1"
	must(t, s.Status().Update(t.Context(), c))
	must(t, s.Delete(t.Context(), o))
	s.untilSays(t, "d5", v1beta2.ReasonRestoring)
	s.record(t, "kept", record, true)
	goes("d5")
}

// goesOn deletes a restore whose cluster cannot go back, and one that can never be completed.
func (s *stage) goesOn(t *testing.T) {
	s.running(t, "gone", true)
	s.from(t, "d6", "gone", func(spec *v1beta2.EtcdRestoreSpec) { spec.SafetySnapshot = v1beta2.SafetySnapshotSkip })
	s.verified(t, "d6")
	o := s.untilPhase(t, "d6", v1beta2.RestoreReplacing)
	record := v1beta2.RestoreRecord{UID: string(o.UID), Name: "d6", Snapshot: "snap.db", NotCalledOff: "the data of gone-0 is gone"}
	s.attempt(t, "gone", record)
	must(t, s.Delete(t.Context(), o))
	s.says(t, s.untilSays(t, "d6", v1beta2.ReasonRestoreContinues), v1beta2.ReasonRestoreContinues, record.NotCalledOff)
	if !s.warned(record.NotCalledOff) {
		t.Errorf("no event tells of it: %q", s.events)
	}

	c := s.cluster(t, "gone")
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: v1beta2.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonRestoreFailed, Message: "damaged",
	})
	must(t, s.Status().Update(t.Context(), c))
	s.says(t, s.untilSays(t, "d6", v1beta2.ReasonRestoreFailed), v1beta2.ReasonRestoreFailed, "damaged")
	if len(s.restore(t, "d6").Finalizers) == 0 {
		t.Error("it goes before it is over")
	}
	s.record(t, "gone", record, true)
	for range 3 {
		s.step(t, "d6")
	}
	if o := (&v1beta2.EtcdRestore{}); !apierrors.IsNotFound(s.Get(t.Context(), key("d6"), o)) {
		t.Errorf("it does not go: %s", pretty(o))
	}
}

// attempt plays the EtcdCluster's controller as it takes a restore up, and gives the previous cluster ID.
func (s *stage) attempt(t *testing.T, cluster string, record v1beta2.RestoreRecord) string {
	t.Helper()
	c := s.cluster(t, cluster)
	was := c.Status.ClusterID
	c.Status.Former = &v1beta2.FormerStatus{ClusterID: was, Bootstrap: c.Status.Bootstrap}
	c.Status.Bootstrap = &v1beta2.BootstrapStatus{
		Incarnation: 2, Token: "token", Members: []string{cluster + "-3"}, ClusterID: "1", Restore: record.UID,
	}
	c.Status.ClusterID = ""
	must(t, s.Status().Update(t.Context(), c))
	s.record(t, cluster, record, false)
	return was
}
