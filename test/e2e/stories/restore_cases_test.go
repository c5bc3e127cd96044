package stories

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// restoreCases are restores that someone might expect something else of.
func restoreCases(t *testing.T) {
	s := begin(t, "cases", v1beta2.EtcdClusterSpec{Size: 1, Version: "3.6.16"})
	s.settled()
	s.puts("key", 10)
	storage := s.volume()
	s.backup("first", storage, nil)
	s.backedUp("first")
	for name, tell := range map[string]func(*story, *v1beta2.Storage){
		"no cluster":      (*story).clusterMissing,
		"a new cluster":   (*story).bornRestored,
		"applied twice":   (*story).appliedTwice,
		"a newer version": (*story).tooNew,
		"users, leases":   (*story).usersAndLeases,
	} {
		t.Run(name, func(t *testing.T) { tell(s.within(t), storage) })
	}
}

// small is the spec of a cluster of these stories.
func small(version string) v1beta2.EtcdClusterSpec {
	return v1beta2.EtcdClusterSpec{Size: 1, Version: version}
}

// beside is another folder of the same volume: a cluster's backups are not written beside those of another one.
func beside(storage *v1beta2.Storage, folder string) *v1beta2.Storage {
	return &v1beta2.Storage{URL: "file:///" + folder, PersistentVolumeClaim: storage.PersistentVolumeClaim}
}

// another is a story of another cluster in the same namespace.
func (s *story) another(name string, spec v1beta2.EtcdClusterSpec) *story {
	s.t.Helper()
	cluster, err := env.NewCluster(s.t.Context(), s.Namespace, name, spec)
	must(s.t, err)
	other := &story{Cluster: cluster, t: s.t}
	other.healthy("created beside")
	return other
}

// clusterMissing restores into a cluster that does not exist, and creates it when told to.
func (s *story) clusterMissing(*v1beta2.Storage) {
	other := &story{Cluster: &harness.Cluster{Env: env, Namespace: s.Namespace, Name: "missing"}, t: s.t}
	other.restore("missing", v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "first"}})
	object := &v1beta2.EtcdRestore{}
	s.saysWhy("missing", object, func() []metav1.Condition { return object.Status.Conditions },
		v1beta2.ConditionRestored, v1beta2.ReasonClusterMissing)
	created, err := env.NewCluster(s.t.Context(), s.Namespace, "missing", small("3.6.16"))
	must(s.t, err)
	other.Cluster = created
	other.restored("missing")
	other.healthy("restored")
	other.has("key", 10)
}

// bornRestored has a new cluster start from a snapshot. It stays when the EtcdRestore goes that was made for it.
func (s *story) bornRestored(*v1beta2.Storage) {
	spec := small("3.6.16")
	spec.RestoreFrom = &v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "first"}}
	other := s.another("new", spec)
	restore := s.restored("new-restore")
	must(s.t, env.Delete(s.t.Context(), restore))
	other.settled()
	other.has("key", 10)
}

// appliedTwice applies a manifest again when it has been carried out. Nothing happens, also not by a new operator.
func (s *story) appliedTwice(storage *v1beta2.Storage) {
	manifest := fmt.Sprintf(`
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdRestore
metadata: {name: twice}
spec: {etcdCluster: {name: %s}, backup: {name: first}}
`, s.Name)
	s.apply(manifest)
	first := s.restored("twice")
	s.healthy("restored")
	s.settled()
	s.puts("later", 5)
	before := s.ids()
	s.apply(manifest)
	s.killOperator()
	s.backup("later", storage, nil)
	s.backedUp("later") // the new operator is at work
	second := &v1beta2.EtcdRestore{}
	must(s.t, s.Client.Get(s.t.Context(), client.ObjectKeyFromObject(first), second))
	if was, is := inJSON(first.Status), inJSON(second.Status); first.Generation != second.Generation || was != is {
		s.t.Errorf("the status was %s and is %s", was, is)
	}
	c, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	if n := record(c, first.UID); n != 1 {
		s.t.Errorf("%d records: %s", n, inJSON(c.Status.Restores))
	}
	s.unmoved(before)
	s.has("later", 5)
}

// unmoved checks that no one was replaced.
func (s *story) unmoved(before string) {
	s.t.Helper()
	if after := s.ids(); after != before {
		s.t.Errorf("the members were %s and are %s", before, after)
	}
}

// apply applies a manifest as people do.
func (s *story) apply(manifest string) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "manifest.yaml")
	must(s.t, os.WriteFile(file, []byte(manifest), 0o600))
	must(s.t, env.Run(s.t.Context(), "apply", "-n", s.Namespace, "-f", file))
}

// tooNew restores what etcd 3.7 has written into a cluster of 3.6.
func (s *story) tooNew(storage *v1beta2.Storage) {
	newer := s.another("newer", small("3.7.3"))
	must(s.t, harness.Await(s.t.Context(), "its data is of 3.7", limit, func(ctx context.Context) (seen string, ok bool) {
		err := newer.Ask(ctx, func(ctx context.Context, c *clientv3.Client) error {
			status, err := c.Status(ctx, c.Endpoints()[0])
			if err == nil {
				seen = status.StorageVersion
			}
			return err
		})
		return fmt.Sprintf("%s, %v", seen, err), strings.HasPrefix(seen, "3.7")
	}))
	newer.backup("newer", beside(storage, "newer"), nil)
	newer.backedUp("newer")
	before := s.ids()
	s.restore("too-new", v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "newer"}})
	object := &v1beta2.EtcdRestore{}
	s.saysWhy("too-new", object, func() []metav1.Condition { return object.Status.Conditions },
		v1beta2.ConditionRestored, v1beta2.ReasonSnapshotVersion)
	s.settled()
	s.unmoved(before)
	s.has("key", 10)
}

// usersAndLeases restores what etcd keeps beside keys. Once it asks who someone is, a backup without a client certificate is
// refused, and says so.
func (s *story) usersAndLeases(storage *v1beta2.Storage) {
	told := s.another("auth", small("3.6.16"))
	var lease clientv3.LeaseID
	told.asks(func(ctx context.Context, c *clientv3.Client) error {
		granted, err := c.Grant(ctx, 3600)
		if err != nil {
			return err
		}
		lease = granted.ID
		_, err = c.Put(ctx, "leased/key", "x", clientv3.WithLease(lease))
		return err
	})
	told.user("root", "root")
	told.user("alice", "reader")
	storage = beside(storage, "auth")
	told.backup("auth", storage, nil)
	told.backedUp("auth")
	told.asks(func(ctx context.Context, c *clientv3.Client) error {
		if _, err := c.Revoke(ctx, lease); err != nil {
			return err
		}
		_, err := c.UserDelete(ctx, "alice")
		return err
	})
	told.restore("auth", v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: "auth"}})
	told.restored("auth")
	told.healthy("restored")
	told.settled()
	told.asks(func(ctx context.Context, c *clientv3.Client) error {
		alive, err := c.TimeToLive(ctx, lease, clientv3.WithAttachedKeys())
		if err != nil {
			return err
		}
		alice, err := c.UserGet(ctx, "alice")
		if alive.TTL <= 0 || len(alive.Keys) != 1 || err != nil || !slices.Contains(alice.Roles, "reader") {
			s.t.Errorf("the lease is %+v, alice is %v, %v", alive, alice, err)
		}
		return nil
	})
	told.asks(func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.AuthEnable(ctx)
		return err
	})
	told.backup("locked", storage, nil)
	told.failsWith("locked", v1beta2.ReasonEtcdAccessDenied)
}

// asks asks etcd for what must not fail.
func (s *story) asks(question func(context.Context, *clientv3.Client) error) {
	s.t.Helper()
	must(s.t, s.Ask(s.t.Context(), question))
}

// user makes a user with a role of its own.
func (s *story) user(name, role string) {
	s.t.Helper()
	s.asks(func(ctx context.Context, c *clientv3.Client) error {
		if _, err := c.RoleAdd(ctx, role); err != nil {
			return err
		}
		if _, err := c.UserAdd(ctx, name, "a password"); err != nil {
			return err
		}
		_, err := c.UserGrantRole(ctx, name, role)
		return err
	})
}
