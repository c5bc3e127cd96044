package etcdrestore_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// planned is the hash of the plan to recover a cluster.
const planned = "0123456789ab"

// losesQuorum makes an EtcdCluster that has a plan to recover from what its first member holds.
func (s *stage) losesQuorum(t *testing.T, name string) *v1beta2.EtcdCluster {
	t.Helper()
	c, now := s.running(t, name, false), metav1.NewTime(s.clock.Now())
	c.Status.QuorumLostSince = &now
	c.Status.Recovery = &v1beta2.RecoveryStatus{Plan: &v1beta2.RecoveryPlan{Hash: planned, Survivor: name + "-0", Revision: 7}}
	must(t, s.Status().Update(t.Context(), c))
	return c
}

// recovers makes the EtcdRestore of that plan.
func (s *stage) recovers(t *testing.T, name, cluster string) {
	t.Helper()
	s.from(t, name, cluster, func(spec *v1beta2.EtcdRestoreSpec) {
		spec.Member = &v1beta2.RestoreMember{Name: cluster + "-0", Plan: planned}
		spec.Storage = &v1beta2.Storage{URL: "file:///", PersistentVolumeClaim: name}
	})
}

// ofSurvivor wants what the survivor holds to be saved, then verified, and then to be what the cluster is restarted from.
func (s *stage) ofSurvivor(t *testing.T) {
	before := s.losesQuorum(t, "survived")
	s.recovers(t, "recovery", "survived")
	pod, asked := s.untilPod(t, "recovery")
	if b := asked.Backup; b == nil || len(b.Endpoints) != 1 || b.Endpoints[0] != "http://survived-0.survived.test.svc:2379" || !b.AcceptStale ||
		b.Cluster.ID != before.Status.ClusterID || asked.Storage.PersistentVolumeClaim != "recovery" {
		t.Fatalf("the first task is %+v, %+v", asked, asked.Backup)
	}
	saved := controllertest.SnapshotOf("survivor.db")
	saved.Stale = true
	s.Ends(t, pod, task.Result{Snapshot: saved})
	o := s.until(t, "recovery", "a saved snapshot", func(o *v1beta2.EtcdRestore) bool { return o.Status.SafetySnapshot != nil })
	if o.Status.Phase != v1beta2.RestoreVerifying || o.Status.Snapshot != nil || o.Status.Source.Object != "survivor.db" {
		t.Errorf("it is %s", pretty(o))
	}
	pod, asked = s.untilPod(t, "recovery")
	if v := asked.Verify; v == nil || v.Object != "survivor.db" || !v.Trial {
		t.Fatalf("the second task is %+v, %+v", asked, asked.Verify)
	}
	s.Ends(t, pod, task.Result{Snapshot: saved})
	o = s.untilPhase(t, "recovery", v1beta2.RestoreReplacing)
	if o.Status.Snapshot == nil || o.Status.Snapshot.Name != "survivor.db" || o.Status.SafetySnapshot.Name != "survivor.db" || len(o.Finalizers) != 1 {
		t.Errorf("it is %s, held by %v", pretty(o), o.Finalizers)
	}
	if now := s.cluster(t, "survived"); now.ResourceVersion != before.ResourceVersion {
		t.Errorf("the cluster was touched: %+v", now)
	}
	s.replaced(t, "recovery", "survived")
}

// voidPlan wants nothing to be replaced once the plan is another one, or the quorum is back; a plan that is missing for a moment is waited
// for.
func (s *stage) voidPlan(t *testing.T) {
	for name, change := range map[string]func(*v1beta2.EtcdClusterStatus){
		"changed": func(s *v1beta2.EtcdClusterStatus) { s.Recovery.Plan.Hash = "ba9876543210" },
		"back":    func(s *v1beta2.EtcdClusterStatus) { s.QuorumLostSince, s.Recovery = nil, nil },
	} {
		c := s.losesQuorum(t, name)
		s.recovers(t, "recovery-"+name, name)
		s.untilPod(t, "recovery-"+name)
		plan := c.Status.Recovery
		c.Status.Recovery = nil
		must(t, s.Status().Update(t.Context(), c))
		s.untilSays(t, "recovery-"+name, v1beta2.ReasonSaving)
		c.Status.Recovery = plan
		change(&c.Status)
		must(t, s.Status().Update(t.Context(), c))
		s.says(t, s.untilPhase(t, "recovery-"+name, v1beta2.RestoreFailed), v1beta2.ReasonRecoveryVoid, "nothing was done to the cluster")
	}
}

// otherSnapshot wants nothing to be replaced by what is not what the survivor gave: somebody else may write where it is kept.
func (s *stage) otherSnapshot(t *testing.T) {
	for name, c := range map[string]struct {
		change func(saved, verified *v1beta2.SnapshotStatus)
		reason string
	}{
		"exchanged": {func(_, verified *v1beta2.SnapshotStatus) { verified.SHA256 = strings.Repeat("cd", 32) }, v1beta2.ReasonSnapshotDamaged},
		"older":     {func(saved, verified *v1beta2.SnapshotStatus) { saved.Revision, verified.Revision = 6, 6 }, v1beta2.ReasonRecoveryVoid},
	} {
		s.losesQuorum(t, name)
		s.recovers(t, "recovery-"+name, name)
		saved, verified := controllertest.SnapshotOf("survivor.db"), controllertest.SnapshotOf("survivor.db")
		c.change(saved, verified)
		pod, _ := s.untilPod(t, "recovery-"+name)
		s.Ends(t, pod, task.Result{Snapshot: saved})
		s.until(t, "recovery-"+name, "a saved snapshot", func(o *v1beta2.EtcdRestore) bool { return o.Status.SafetySnapshot != nil })
		pod, _ = s.untilPod(t, "recovery-"+name)
		s.Ends(t, pod, task.Result{Snapshot: verified})
		s.says(t, s.untilPhase(t, "recovery-"+name, v1beta2.RestoreFailed), c.reason, "nothing was done to the cluster")
	}
}
