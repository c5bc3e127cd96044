package stories

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestBackupAndRestore is the life of a cluster's data: backed up and proved, lost in part and put back, and lost entirely.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	s := begin(t, "backup", onVolumes(3))
	s.settled()
	storage := s.minio()
	s.secret(keySecret, map[string]string{"passphrase": "correct horse battery staple"})
	s.puts("before", 100)
	s.backup("first", storage, func(spec *v1beta2.EtcdBackupSpec) {
		spec.EncryptionSecretRef.Name, spec.Verify = keySecret, v1beta2.VerifyRestore
	})
	first := s.backedUp("first").Status.Snapshots[0]
	if first.VerificationTime == nil || first.Revision < 100 || first.EtcdVersion == "" || len(first.SHA256) != 64 {
		t.Errorf("the snapshot is %+v", first)
	}
	s.puts("after", 50)

	start := time.Now()
	s.restore("back", v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "first"}})
	r := s.restored("back")
	t.Logf("from the EtcdRestore to the restored data: %.1f s", time.Since(start).Seconds())
	if r.Status.SafetySnapshot == nil {
		t.Error("what the restore replaced was not saved")
	}
	s.healthy("restored")
	s.settled()
	s.has("before", 100)
	s.has("after", 0)
	s.clean()
	s.keeps("back", 3)
	t.Run("a restored cluster is like any other", func(*testing.T) { s.goesOn() })

	start = time.Now()
	s.vanishes()
	cluster, err := env.NewCluster(t.Context(), s.Namespace, s.Name, fromSnapshot(storage, r.Status.SafetySnapshot.Name))
	must(t, err)
	s.Cluster = cluster
	s.healthy("from nothing but the bucket")
	t.Logf("from nothing but the bucket: %.1f s", time.Since(start).Seconds())
	s.has("after", 50)
}

// fromSnapshot is a cluster that starts from what was saved before a restore.
func fromSnapshot(storage *v1beta2.Storage, name string) v1beta2.EtcdClusterSpec {
	spec := onVolumes(3)
	spec.RestoreFrom = &v1beta2.RestoreSource{Storage: storage, Snapshot: name, EncryptionSecretRef: v1beta2.SecretRef{Name: keySecret}}
	return spec
}

// goesOn has a restored cluster lose a member, grow, and work under a client.
func (s *story) goesOn() {
	s.client()
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	must(s.t, s.KillPod(s.t.Context(), pods[0].Name))
	must(s.t, s.Recovered(s.t.Context(), pods[0].UID, limit))
	s.resize(5)
	s.healthy("3 to 5")
	s.report("a restored cluster loses a pod and grows")
	must(s.t, s.writer.Stop(s.t.Context()))
}

// vanishes deletes all that there is of the cluster in Kubernetes.
func (s *story) vanishes() {
	s.t.Helper()
	must(s.t, env.DeleteAllOf(s.t.Context(), &v1beta2.EtcdRestore{}, client.InNamespace(s.Namespace)))
	must(s.t, env.DeleteAllOf(s.t.Context(), &v1beta2.EtcdBackup{}, client.InNamespace(s.Namespace)))
	must(s.t, s.Remove(s.t.Context(), limit))
}

// TestStorages takes a backup into each kind of storage, and starts a cluster from it.
func TestStorages(t *testing.T) {
	t.Parallel()
	s := begin(t, "storages", v1beta2.EtcdClusterSpec{Size: 1, Version: "3.5.35"})
	s.puts("key", 10)
	for name, storage := range map[string]*v1beta2.Storage{"gcs": s.gcs(), "azurite": s.azurite(), "volume": s.volume()} {
		t.Run(name, func(t *testing.T) {
			s.backup(name, storage, nil)
			s.backedUp(name)
			spec := v1beta2.EtcdClusterSpec{Size: 1, Version: "3.6.16"}
			spec.RestoreFrom = &v1beta2.RestoreSource{Storage: storage}
			copied := s.within(t).another("from-"+name, spec)
			copied.has("key", 10)
		})
	}
}

// backup creates an EtcdBackup of the story's cluster.
func (s *story) backup(name string, storage *v1beta2.Storage, change func(*v1beta2.EtcdBackupSpec)) {
	s.t.Helper()
	spec := v1beta2.EtcdBackupSpec{EtcdCluster: &v1beta2.EtcdClusterRef{Name: s.Name}, Storage: storage}
	if change != nil {
		change(&spec)
	}
	must(s.t, env.Create(s.t.Context(), &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}, Spec: spec,
	}))
}

// backedUp waits until a backup has succeeded.
func (s *story) backedUp(name string) *v1beta2.EtcdBackup {
	s.t.Helper()
	object := &v1beta2.EtcdBackup{}
	s.until(name, object, func() (string, bool) {
		return inJSON(object.Status), object.Status.Succeeded && object.Status.Run == nil && len(object.Status.Snapshots) > 0
	})
	return object
}

// restore creates an EtcdRestore into the story's cluster.
func (s *story) restore(name string, source v1beta2.RestoreSource) {
	s.t.Helper()
	must(s.t, env.Create(s.t.Context(), &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name},
		Spec:       v1beta2.EtcdRestoreSpec{EtcdCluster: v1beta2.EtcdClusterRef{Name: s.Name}, RestoreSource: source},
	}))
}

// restored waits until a restore has succeeded.
func (s *story) restored(name string) *v1beta2.EtcdRestore {
	s.t.Helper()
	object := &v1beta2.EtcdRestore{}
	s.until(name, object, func() (string, bool) {
		if object.Status.Phase == v1beta2.RestoreFailed {
			s.t.Fatalf("the restore failed: %s", inJSON(object.Status))
		}
		return inJSON(object.Status), object.Status.Succeeded
	})
	return object
}

// until reads an object until it is as wanted.
func (s *story) until(name string, object client.Object, holds func() (string, bool)) {
	s.t.Helper()
	what := fmt.Sprintf("%T %s", object, name)
	must(s.t, harness.Await(s.t.Context(), what, limit, func(ctx context.Context) (string, bool) {
		reflect.ValueOf(object).Elem().SetZero() // what is not there any more would stay
		if err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, object); err != nil {
			return err.Error(), false
		}
		return holds()
	}))
}

func inJSON(plain any) string {
	text, err := json.Marshal(plain)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// puts writes so many keys below a prefix.
func (s *story) puts(prefix string, n int) {
	s.t.Helper()
	for i := range n {
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Put(ctx, fmt.Sprintf("%s/%03d", prefix, i), prefix)
			return err
		}))
	}
}

// has checks that there are so many keys below a prefix.
func (s *story) has(prefix string, want int64) {
	s.t.Helper()
	must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, c *clientv3.Client) error {
		got, err := c.Get(ctx, prefix+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err == nil && got.Count != want {
			s.t.Errorf("there are %d keys below %s, want %d", got.Count, prefix, want)
		}
		return err
	}))
}

// clean checks that no member's pod has anything of the storage any more.
func (s *story) clean() {
	s.t.Helper()
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	for _, p := range pods {
		for _, v := range p.Spec.Volumes {
			if v.Secret != nil || v.Projected != nil {
				s.t.Errorf("pod %s has the volume %s of the restore still", p.Name, v.Name)
			}
		}
	}
}

// keeps checks that status names the volumes of what a restore has replaced, and that they are there.
func (s *story) keeps(restore string, want int) {
	s.t.Helper()
	c, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	n := 0
	for _, kept := range c.Status.KeptVolumes {
		if claim := s.claim(kept.Name); kept.Restore == restore && string(claim.UID) == kept.UID && claim.DeletionTimestamp == nil {
			n++
		}
	}
	if n != want {
		s.t.Errorf("%d volumes of what %s has replaced are there, not %d: %s", n, restore, want, inJSON(c.Status.KeptVolumes))
	}
}

// saysWhy waits until an EtcdBackup or EtcdRestore tells of a failure for that reason.
func (s *story) saysWhy(name string, object client.Object, conditions func() []metav1.Condition, kind, reason string) {
	s.t.Helper()
	s.until(name, object, func() (string, bool) {
		c := meta.FindStatusCondition(conditions(), kind)
		return inJSON(conditions()), c != nil && c.Status == metav1.ConditionFalse && c.Reason == reason
	})
}
