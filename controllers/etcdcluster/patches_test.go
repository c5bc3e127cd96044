package etcdcluster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// TestMinorReleaseIsFollowed has a cluster run an older patch release when its user asks for the minor release only: it stays, with the reason in
// status, until there is a verified backup of its data that is not older than a day. A version that is named takes the place of what was chosen.
func TestMinorReleaseIsFollowed(t *testing.T) {
	const before = "3.6.15"
	w := newIdleWorld(t)
	w.operator.Autopilot = v1beta2.AutopilotOn
	name := types.NamespacedName{Namespace: namespace, Name: "followed"}
	w.cluster(t, name)
	w.change(t, name, func(c *v1beta2.EtcdCluster) { c.Spec.Version = before })
	w.settle(t, name)
	w.makeReady(t)
	w.change(t, name, func(c *v1beta2.EtcdCluster) {
		c.Spec.Version, c.Spec.Autopilot = "3.6", &v1beta2.AutopilotSpec{Patches: &v1beta2.AutopilotFeature{Mode: v1beta2.AutopilotOn}}
	})
	w.settle(t, name)
	w.runsAll(t, before)

	c := w.get(t, name)
	other := "0123456789abcdef"
	for title, s := range map[string]v1beta2.SnapshotStatus{
		"none that is verified": snapshotOf(c.Status.ClusterID, v1beta2.VerifyNone, time.Hour),
		"none of the last day":  snapshotOf(c.Status.ClusterID, v1beta2.VerifyChecksum, 25*time.Hour),
		"none of this data":     snapshotOf(other, v1beta2.VerifyChecksum, time.Hour),
	} {
		w.backup(t, name, s)
		w.settle(t, name)
		if held := heldOf(w.get(t, name), "patches"); held != v1beta2.ReasonPatchHeld {
			t.Errorf("%s: held for %q", title, held)
		}
	}
	w.runsAll(t, before)

	w.backup(t, name, snapshotOf(c.Status.ClusterID, v1beta2.VerifyChecksum, 23*time.Hour))
	w.reaches(t, name, version.DefaultEtcd)
	c = w.get(t, name)
	if a := c.Status.Autopilot; a == nil || a.Version == nil || a.Version.Version != version.DefaultEtcd || a.Version.InsteadOf != before || a.Version.Since.IsZero() {
		t.Errorf("status.autopilot is %+v", a)
	}
	if recorded := w.recordedEvents(); strings.Count(recorded, v1beta2.ReasonFollowingPatch) != 1 {
		t.Errorf("events: %s", recorded)
	}
	w.change(t, name, func(c *v1beta2.EtcdCluster) { c.Spec.Version = before })
	w.reaches(t, name, before)
	if a := w.get(t, name).Status.Autopilot; a != nil && a.Version != nil {
		t.Errorf("a version is named, and status.autopilot.version is %+v", a.Version)
	}
}

// TestMinorReleaseIsRefused has one that the operator does not know come no further than the status.
func TestMinorReleaseIsRefused(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "unknown"}
	w.cluster(t, name)
	w.change(t, name, func(c *v1beta2.EtcdCluster) { c.Spec.Version = "3.4" })
	w.settle(t, name)
	if got := w.versions(t); len(got) > 0 {
		t.Errorf("pods of %q are there", got)
	}
	c := w.get(t, name)
	i := slices.IndexFunc(c.Status.Conditions, func(c metav1.Condition) bool { return c.Reason == v1beta2.ReasonUnsupportedVersion })
	if i < 0 || !strings.Contains(c.Status.Conditions[i].Message, "use one of 3.5, 3.6, 3.7") {
		t.Errorf("conditions: %+v", c.Status.Conditions)
	}
}

// snapshotOf is a snapshot of that age.
func snapshotOf(clusterID string, verified v1beta2.Verification, age time.Duration) v1beta2.SnapshotStatus {
	return v1beta2.SnapshotStatus{
		Name: "7.db", ClusterID: clusterID, Verification: verified, Revision: 7, CreationTime: metav1.NewTime(time.Now().Add(-age)),
	}
}

// backup has the cluster's EtcdBackup list that snapshot alone.
func (w *idleWorld) backup(t *testing.T, cluster types.NamespacedName, s v1beta2.SnapshotStatus) {
	t.Helper()
	b := &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "nightly"},
		Spec:       v1beta2.EtcdBackupSpec{EtcdCluster: &v1beta2.EtcdClusterRef{Name: cluster.Name}},
		Status:     v1beta2.EtcdBackupStatus{Snapshots: []v1beta2.SnapshotStatus{s}},
	}
	_ = w.api.Delete(t.Context(), b.DeepCopy()) // the one before
	must(t, w.api.Create(t.Context(), b))
}

func (w *idleWorld) get(t *testing.T, name types.NamespacedName) *v1beta2.EtcdCluster {
	t.Helper()
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), name, c))
	return c
}

// runsAll wants all members' images to be of that version.
func (w *idleWorld) runsAll(t *testing.T, v string) {
	t.Helper()
	if got := w.versions(t); !slices.Equal(got, []string{v, v, v}) {
		t.Fatalf("the members run %q, want %s; events: %s", got, v, w.recordedEvents())
	}
}

// reaches passes until the first member gets that version.
func (w *idleWorld) reaches(t *testing.T, name types.NamespacedName, v string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); { // it waits for clients of the member
		_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		if slices.Contains(w.versions(t), v) {
			return
		}
	}
	t.Fatalf("no member gets %s: they run %q; events: %s", v, w.versions(t), w.recordedEvents())
}

// heldOf is why something of a feature is held, empty if nothing is.
func heldOf(c *v1beta2.EtcdCluster, feature string) string {
	if c.Status.Autopilot == nil {
		return ""
	}
	for _, h := range c.Status.Autopilot.Held {
		if h.Feature == feature {
			return h.Reason
		}
	}
	return ""
}
