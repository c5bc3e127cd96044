package etcdcluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

var lost = types.NamespacedName{Namespace: namespace, Name: "lost"}

// onVolumes are members with a volume each.
func onVolumes() *v1beta2.PodPolicy {
	return &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

// losesQuorum runs a cluster of three, of which only lost-1 answers from then on, and follows nobody.
func losesQuorum(t *testing.T, spec v1beta2.EtcdClusterSpec) *idleWorld {
	t.Helper()
	w := newIdleWorld(t)
	spec.Size = 3
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: lost.Namespace, Name: lost.Name}, Spec: spec,
	}))
	w.calms(t, lost)
	w.servers["lost-1"].alone.Store(true)
	w.servers["lost-0"].door.set(true)
	w.servers["lost-2"].door.set(true)
	w.looks(t, lost)
	c, since := w.reads(t), metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	c.Status.QuorumLostSince = &since // the nodes' pods have settled
	must(t, w.api.Status().Update(t.Context(), c))
	w.looks(t, lost)
	return w
}

// loses deletes the pods and volumes of members for good.
func (w *idleWorld) loses(t *testing.T, members ...string) {
	t.Helper()
	for _, name := range members {
		meta := metav1.ObjectMeta{Namespace: lost.Namespace, Name: name}
		must(t, client.IgnoreNotFound(w.api.Delete(t.Context(), &corev1.Pod{ObjectMeta: meta})))
		must(t, client.IgnoreNotFound(w.api.Delete(t.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: meta})))
	}
	w.looks(t, lost)
}

func (w *idleWorld) reads(t *testing.T) *v1beta2.EtcdCluster {
	t.Helper()
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), lost, c))
	return c
}

// plans wants a plan, and returns it.
func (w *idleWorld) plans(t *testing.T) *v1beta2.RecoveryPlan {
	t.Helper()
	r := w.reads(t).Status.Recovery
	if r == nil || r.Plan == nil {
		t.Fatalf("there is no plan: %+v", w.reads(t).Status.Conditions)
	}
	return r.Plan
}

func (w *idleWorld) confirms(t *testing.T, hash string) {
	t.Helper()
	c := w.reads(t)
	c.Annotations = map[string]string{v1beta2.AnnotationRecover: hash}
	must(t, w.api.Update(t.Context(), c))
	w.looks(t, lost)
}

func (w *idleWorld) restores(t *testing.T) []v1beta2.EtcdRestore {
	t.Helper()
	list := &v1beta2.EtcdRestoreList{}
	must(t, w.api.List(t.Context(), list))
	return list.Items
}

// TestQuorumLost shows a plan, and carries it out once that very plan is confirmed, with a volume to keep the snapshot on.
func TestQuorumLost(t *testing.T) {
	w := losesQuorum(t, v1beta2.EtcdClusterSpec{Pod: onVolumes()})
	if p := w.plans(t); p.Survivor != "lost-1" || p.Revision != 1 || !slices.Equal(p.Silent, []string{"lost-0", "lost-2"}) || len(p.Lost) > 0 ||
		p.HeldBack != "" || p.Backup != nil {
		t.Errorf("while they are silent the plan is %+v", p)
	}
	silent := w.plans(t).Hash
	w.loses(t, "lost-0", "lost-2")
	p := w.plans(t)
	if !slices.Equal(p.Lost, []string{"lost-0", "lost-2"}) || len(p.Silent) > 0 || p.Hash == silent {
		t.Errorf("with their volumes gone the plan is %+v", p)
	}
	if said := w.says(t, lost, v1beta2.ConditionAvailable); said.Status != metav1.ConditionFalse || !strings.Contains(said.Message, p.Hash) {
		t.Errorf("Available: %+v", said)
	}
	w.confirms(t, silent)
	if made := w.restores(t); len(made) > 0 {
		t.Fatalf("another plan was confirmed, and there is %+v", made)
	}
	w.confirms(t, p.Hash)
	w.carriesOut(t, p)
}

// carriesOut wants a plan to be carried out by an EtcdRestore, and its failure to be reported.
func (w *idleWorld) carriesOut(t *testing.T, p *v1beta2.RecoveryPlan) {
	t.Helper()
	made, name := w.restores(t), "lost-recover-"+p.Hash
	if len(made) != 1 || made[0].Name != name || *made[0].Spec.Member != (v1beta2.RestoreMember{Name: "lost-1", Plan: p.Hash}) ||
		made[0].Spec.Storage == nil || made[0].Spec.Storage.PersistentVolumeClaim != name || made[0].Spec.EtcdCluster.Name != "lost" {
		t.Fatalf("the EtcdRestores are %+v", made)
	}
	claim := &corev1.PersistentVolumeClaim{}
	must(t, w.api.Get(t.Context(), client.ObjectKeyFromObject(&made[0]), claim))
	if size := claim.Spec.Resources.Requests[corev1.ResourceStorage]; size.String() != "1Gi" || len(claim.Labels) > 0 {
		t.Errorf("the claim is %+v", claim)
	}
	w.looks(t, lost)
	if said := w.says(t, lost, v1beta2.ConditionProgressing); said.Reason != v1beta2.ReasonRecoveringQuorum || len(w.restores(t)) != 1 {
		t.Errorf("Progressing: %+v", said)
	}
	made[0].Status.Phase, made[0].Status.Reason = v1beta2.RestoreFailed, "there is no room"
	must(t, w.api.Update(t.Context(), &made[0]))
	w.looks(t, lost)
	if said := w.says(t, lost, v1beta2.ConditionProgressing); said.Reason != v1beta2.ReasonRecoveryFailed || !strings.Contains(said.Message, "there is no room") {
		t.Errorf("Progressing: %+v", said)
	}
}

// TestQuorumLostOnEmptyDirs needs an EtcdBackup in whose storage the snapshot is kept.
func TestQuorumLostOnEmptyDirs(t *testing.T) {
	w := losesQuorum(t, v1beta2.EtcdClusterSpec{Recovery: &v1beta2.RecoverySpec{Backup: &v1beta2.EtcdBackupRef{Name: "nightly"}}})
	w.loses(t, "lost-0", "lost-2")
	hash := w.plans(t).Hash
	w.confirms(t, hash)
	if p := w.plans(t); !strings.Contains(p.HeldBack, "nightly") || len(w.restores(t)) > 0 {
		t.Errorf("without that EtcdBackup the plan is %+v, and there is %+v", p, w.restores(t))
	}
	old, latest, stale := controllertest.SnapshotOf("old"), controllertest.SnapshotOf("new"), controllertest.SnapshotOf("stale")
	old.Revision, latest.Revision, stale.Revision, stale.Stale = 7, 9, 11, true
	for _, s := range []*v1beta2.SnapshotStatus{old, latest, stale} {
		s.Verification = v1beta2.VerifyChecksum
	}
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: lost.Namespace, Name: "nightly"},
		Spec:       v1beta2.EtcdBackupSpec{EtcdCluster: &v1beta2.EtcdClusterRef{Name: lost.Name}},
		Status:     v1beta2.EtcdBackupStatus{Snapshots: []v1beta2.SnapshotStatus{*stale, *latest, *old}},
	}))
	w.looks(t, lost)
	if b := w.plans(t).Backup; b == nil || b.Snapshot != "new" || b.EtcdBackup != "nightly" || b.Revision != 9 {
		t.Errorf("the newest backup is %+v", b)
	}
	made := w.restores(t)
	if len(made) != 1 || made[0].Spec.Backup == nil || made[0].Spec.Backup.Name != "nightly" || made[0].Spec.Storage != nil || w.plans(t).Hash != hash {
		t.Errorf("the EtcdRestores are %+v", made)
	}
}

// TestQuorumLostIsProven takes nothing for lost of which anything is there, under whatever labels.
func TestQuorumLostIsProven(t *testing.T) {
	w := losesQuorum(t, v1beta2.EtcdClusterSpec{Pod: onVolumes()})
	hidden := &corev1.PersistentVolumeClaim{}
	must(t, w.api.Get(t.Context(), types.NamespacedName{Namespace: lost.Namespace, Name: "lost-0"}, hidden))
	hidden.Labels = nil
	must(t, w.api.Update(t.Context(), hidden))
	must(t, w.api.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: lost.Namespace, Name: "lost-0"}}))
	w.loses(t, "lost-2")
	if p := w.plans(t); !slices.Equal(p.Lost, []string{"lost-2"}) || !slices.Equal(p.Silent, []string{"lost-0"}) {
		t.Errorf("the plan is %+v", p)
	}
}

// TestRecoveryHeldBack begins nothing beside another restore, and has the data go nowhere but where it is backed up to anyway.
func TestRecoveryHeldBack(t *testing.T) {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: lost.Namespace, Name: name} }
	cloud, ours := &v1beta2.Storage{URL: "s3://b/p"}, &v1beta2.EtcdClusterRef{Name: lost.Name}
	for name, c := range map[string]struct {
		other client.Object
		want  string
	}{
		"another restore": {&v1beta2.EtcdRestore{ObjectMeta: meta("theirs"), Spec: v1beta2.EtcdRestoreSpec{EtcdCluster: *ours}}, "EtcdRestore theirs"},
		"of no cluster": {&v1beta2.EtcdBackup{
			ObjectMeta: meta("carrier"), Spec: v1beta2.EtcdBackupSpec{Storage: cloud, EtcdEndpoints: []string{"http://e:2379"}},
		}, "carrier is not one of this cluster"},
		"of another cluster": {&v1beta2.EtcdBackup{
			ObjectMeta: meta("carrier"), Spec: v1beta2.EtcdBackupSpec{Storage: cloud, EtcdCluster: &v1beta2.EtcdClusterRef{Name: "other"}},
		}, "carrier is not one of this cluster"},
		"by an identity": {&v1beta2.EtcdBackup{
			ObjectMeta: meta("carrier"), Spec: v1beta2.EtcdBackupSpec{
				Storage: cloud, EtcdCluster: ours, Pod: &v1beta2.AgentPodPolicy{ServiceAccountName: "uploader"},
			},
		}, "spec.pod.serviceAccountName to uploader"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := v1beta2.EtcdClusterSpec{Pod: onVolumes()}
			if _, carries := c.other.(*v1beta2.EtcdBackup); carries {
				spec.Recovery = &v1beta2.RecoverySpec{Backup: &v1beta2.EtcdBackupRef{Name: "carrier"}}
			}
			w := losesQuorum(t, spec)
			must(t, w.api.Create(t.Context(), c.other))
			w.loses(t, "lost-0", "lost-2")
			w.confirms(t, w.plans(t).Hash)
			if p := w.plans(t); !strings.Contains(p.HeldBack, c.want) || !strings.Contains(p.Message, c.want) {
				t.Errorf("the plan is %+v", p)
			}
			if slices.ContainsFunc(w.restores(t), func(r v1beta2.EtcdRestore) bool { return r.Spec.Member != nil }) {
				t.Errorf("it begins: %+v", w.restores(t))
			}
		})
	}
}

// TestStopsAgainOnceSaved has a cluster that wakes up hibernate again only once the survivor's data is saved.
func TestStopsAgainOnceSaved(t *testing.T) {
	w := losesQuorum(t, v1beta2.EtcdClusterSpec{Pod: onVolumes()})
	w.confirms(t, w.plans(t).Hash)
	w.change(t, lost, func(c *v1beta2.EtcdCluster) { c.Spec.Hibernate, c.Status.Hibernation = true, string(plan.Waking) })
	w.looks(t, lost)
	restore := w.restores(t)[0]
	said := w.says(t, lost, v1beta2.ConditionReady)
	if h := w.reads(t).Status.Hibernation; h != string(plan.Waking) || !strings.Contains(said.Message, "EtcdRestore "+restore.Name+" is taking a snapshot") {
		t.Errorf("while the data is being saved it is %s: %s", h, said.Message)
	}
	restore.Status.Phase, restore.Status.Reason = v1beta2.RestoreFailed, "there is no room"
	must(t, w.api.Update(t.Context(), &restore))
	w.looks(t, lost)
	if h := w.reads(t).Status.Hibernation; h != string(plan.Hibernated) {
		t.Errorf("once nothing is being saved it is %s", h)
	}
}

// TestQuorumReturns has nothing replaced once a majority is back, however far the recovery has come.
func TestQuorumReturns(t *testing.T) {
	for _, back := range []bool{false, true} {
		t.Run(fmt.Sprintf("back=%t", back), func(t *testing.T) {
			w := losesQuorum(t, v1beta2.EtcdClusterSpec{Pod: onVolumes()})
			w.confirms(t, w.plans(t).Hash)
			before := w.reads(t).Status
			restore := w.restores(t)[0]
			restore.Status = v1beta2.EtcdRestoreStatus{
				Phase: v1beta2.RestoreReplacing, ClusterUID: string(w.reads(t).UID), ClusterID: before.ClusterID, SafetySnapshot: controllertest.SnapshotOf("s"),
				Source: &v1beta2.RestoredFrom{Storage: *restore.Spec.Storage, Object: "s", SHA256: "abc"}, Snapshot: controllertest.SnapshotOf("s"),
			}
			restore.Status.SafetySnapshot.Stale = true
			must(t, w.api.Update(t.Context(), &restore))
			if back {
				w.servers["lost-1"].alone.Store(false)
				w.servers["lost-0"].door.set(false)
			}
			w.looks(t, lost)
			after := w.reads(t).Status
			switch begun := after.Bootstrap.Restore == string(restore.UID); {
			case begun == back:
				t.Errorf("begun: %t, status %+v", begun, after)
			case back && (after.ClusterID != before.ClusterID || after.Recovery != nil):
				t.Errorf("status %+v", after)
			case !back && (!after.Bootstrap.Recovery || after.Former == nil || after.Recovery != nil || after.Restores[0].Unsaved == ""):
				t.Errorf("status %+v", after)
			}
		})
	}
}
