package stories

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// lineages makes a cluster again, empty, under the name of one that has backups, as a GitOps tool does after a disaster:
// the backups of the first stay, no one takes the empty ones for them, and a restore that is retried restores what it
// restored before.
func lineages(t *testing.T) {
	s := begin(t, "lineages", small("3.6.16"))
	s.settled()
	storage := s.volume()
	s.puts("real", 10)
	s.every("nightly", storage, 2)
	s.runs("nightly", 2)
	first := s.clusterID()

	must(t, s.Remove(t.Context(), limit))
	again, err := env.NewCluster(t.Context(), s.Namespace, s.Name, small("3.6.16"))
	must(t, err)
	s.Cluster = again
	s.healthy("again, and empty")
	second := s.clusterID()
	kept := s.bothLineages("nightly", first, second)
	t.Run("another EtcdBackup does not write there", func(t *testing.T) { s.within(t).foreign(storage) })
	t.Run("the latest of two lineages is nobody's guess", func(t *testing.T) { s.within(t).competing(storage, first, second) })
	t.Run("the lineage that is named", func(t *testing.T) { s.within(t).named(storage, first) })
	t.Run("a restore tried again", func(t *testing.T) { s.within(t).triedAgain(kept) })
}

func (s *story) clusterID() string {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	return object.Status.ClusterID
}

// bothLineages waits until retention has worked on the backups of the empty cluster, and returns the last good one of the
// first cluster, which is still there.
func (s *story) bothLineages(name, first, second string) string {
	s.t.Helper()
	s.runs(name, 4)
	status := s.suspended(name).Status
	lineage := func(id string) v1beta2.BackupLineage {
		i := slices.IndexFunc(status.Lineages, func(l v1beta2.BackupLineage) bool { return sameID(l.ClusterID, id) })
		if i < 0 || status.Lineages[i].Count != 2 {
			s.t.Fatalf("two backups of %s are to be kept: %s", id, inJSON(status))
		}
		return status.Lineages[i]
	}
	lineage(second)
	return lineage(first).Name
}

// sameID compares etcd's IDs, which some write with leading zeros.
func sameID(a, b string) bool { return strings.TrimLeft(a, "0") == strings.TrimLeft(b, "0") }

// foreign has another EtcdBackup of another cluster begin in the folder.
func (s *story) foreign(storage *v1beta2.Storage) {
	other := s.another("stranger", small("3.6.16"))
	other.backup("stranger", storage, nil)
	other.failsWith("stranger", v1beta2.ReasonForeignBackups)
}

func (s *story) competing(storage *v1beta2.Storage, ids ...string) {
	s.restore("latest", v1beta2.RestoreSource{Storage: storage})
	object := &v1beta2.EtcdRestore{}
	s.saysWhy("latest", object, func() []metav1.Condition { return object.Status.Conditions },
		v1beta2.ConditionRestored, v1beta2.ReasonSeveralLineages)
	message := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionRestored).Message
	for _, id := range ids {
		if !strings.Contains(message, strings.TrimLeft(id, "0")) {
			s.t.Errorf("the lineage %s is not named: %s", id, message)
		}
	}
	s.settled()
}

// named restores the cluster that was lost.
func (s *story) named(storage *v1beta2.Storage, id string) {
	s.puts("empty", 3)
	s.restore("named", v1beta2.RestoreSource{Storage: storage, ClusterID: id})
	r := s.restored("named")
	if r.Status.SafetySnapshot == nil {
		s.t.Errorf("what it replaced was not saved: %s", inJSON(r.Status))
	}
	s.healthy("restored")
	s.has("real", 10)
	s.has("empty", 0)
	must(s.t, env.Delete(s.t.Context(), r))
}

// triedAgain restores once more: the newest object there is what the restore before has saved, and no one has named it.
func (s *story) triedAgain(want string) {
	s.puts("later", 3)
	s.restore("again", v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "nightly"}, Snapshot: want})
	s.restored("again")
	s.healthy("restored again")
	s.has("real", 10)
	s.has("later", 0)
	object := &harness.Cluster{Env: env, Namespace: s.Namespace, Name: s.Name}
	c, err := object.Get(s.t.Context())
	must(s.t, err)
	if len(c.Status.Restores) != 2 || c.Status.Restores[0].Snapshot != want {
		s.t.Errorf("the restores are %s", inJSON(c.Status.Restores))
	}
}
