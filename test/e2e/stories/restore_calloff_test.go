package stories

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// restoresCalledOff has restores come to nothing after the old members were stopped: these come back on their volumes, under
// their cluster ID, with all that clients wrote.
func restoresCalledOff(t *testing.T) {
	s := begin(t, "called-off", onVolumes(3))
	s.settled()
	s.puts("before", 20)
	remote, local := s.minio(), s.volume()
	s.backup("remote", remote, nil)
	s.backedUp("remote")
	s.backup("local", local, nil)
	taken := s.backedUp("local").Status.Snapshots[0].Name
	s.puts("after", 5)
	was := s.identities()
	s.healsAddon(lab.MinIO)

	t.Run("deleted", func(t *testing.T) {
		told := s.within(t)
		told.stopsReplacing("deleted")
		must(t, env.Delete(t.Context(), &v1beta2.EtcdRestore{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "deleted"},
		}))
		told.resumed(was)
		must(t, nodes.Addons().Heal(t.Context(), lab.MinIO))
	})
	t.Run("cannot be restored", func(t *testing.T) {
		told := s.within(t)
		told.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Paused = true })
		told.restoreUnsaved("damaged", v1beta2.RestoreSource{Storage: local, Snapshot: taken})
		told.reaches("damaged", v1beta2.RestoreReplacing)
		told.inStore("cp " + taken + " kept; echo more >> " + taken)
		told.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Paused = false })
		object := &v1beta2.EtcdRestore{}
		told.saysWhy("damaged", object, func() []metav1.Condition { return object.Status.Conditions },
			v1beta2.ConditionRestored, v1beta2.ReasonSnapshotDamaged)
		told.resumed(was)
		told.inStore("mv kept " + taken)
	})
	t.Run("superseded", func(t *testing.T) {
		told := s.within(t)
		told.stopsReplacing("superseded")
		told.restore("superseding", v1beta2.RestoreSource{Storage: local, Snapshot: taken})
		later := told.restored("superseding")
		object := &v1beta2.EtcdRestore{}
		told.saysWhy("superseded", object, func() []metav1.Condition { return object.Status.Conditions },
			v1beta2.ConditionRestored, v1beta2.ReasonRestoreSuperseded)
		must(t, nodes.Addons().Heal(t.Context(), lab.MinIO))
		told.carriedOutOnce(later.UID)
	})
}

// stopsReplacing begins a restore whose storage goes away as the old members stop.
func (s *story) stopsReplacing(name string) {
	s.t.Helper()
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Paused = true })
	s.restoreUnsaved(name, v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "remote"}})
	s.reaches(name, v1beta2.RestoreReplacing)
	must(s.t, nodes.Addons().Stop(s.t.Context(), lab.MinIO))
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Paused = false })
	object := &v1beta2.EtcdRestore{}
	s.saysWhy(name, object, func() []metav1.Condition { return object.Status.Conditions },
		v1beta2.ConditionRestored, v1beta2.ReasonStorageUnreachable)
}

// restoreUnsaved creates an EtcdRestore that also a paused cluster takes to Replacing: what that holds is saved only once it is
// not paused any more.
func (s *story) restoreUnsaved(name string, source v1beta2.RestoreSource) {
	s.t.Helper()
	must(s.t, env.Create(s.t.Context(), &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name},
		Spec: v1beta2.EtcdRestoreSpec{
			EtcdCluster: v1beta2.EtcdClusterRef{Name: s.Name}, RestoreSource: source,
			SafetySnapshot: v1beta2.SafetySnapshotSkip,
		},
	}))
}

func (s *story) reaches(name string, phase v1beta2.RestorePhase) {
	s.t.Helper()
	object := &v1beta2.EtcdRestore{}
	s.until(name, object, func() (string, bool) { return inJSON(object.Status), object.Status.Phase == phase })
}

// resumed wants the members that there were, with their data.
func (s *story) resumed(was map[string]string) {
	s.t.Helper()
	s.healthy("the former members are back")
	s.settled()
	is := s.identities()
	for name, id := range was {
		if is[name] != id {
			s.t.Errorf("the members were %v and are %v", was, is)
		}
	}
	s.has("before", 20)
	s.has("after", 5)
	s.clean()
}
