package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/soak"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

const (
	// storageCA is the name of the Secret with the store's certificate authority.
	storageCA = "storage-ca"
	// cutAfter is how much of an upload gets through before the connection is cut, in bytes.
	cutAfter = 64 << 10
)

// secrets has the round's namespace know the store.
func (r *round) secrets(ctx context.Context) error {
	ca, err := os.ReadFile(r.bench.store.CAFile)
	if err != nil {
		return fmt.Errorf("read the store's certificate authority: %w", err)
	}
	for name, data := range map[string]map[string]string{
		storageCA: {"ca.crt": string(ca)},
		lab.MinIO: {
			"access-key-id": r.bench.store.Env["AWS_ACCESS_KEY_ID"], "secret-access-key": r.bench.store.Env["AWS_SECRET_ACCESS_KEY"],
		},
	} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: name}, StringData: data}
		if err := r.bench.Create(ctx, secret); err != nil {
			return err
		}
	}
	return nil
}

// backUp does something about backups: to their storage, or with it.
func (r *round) backUp(ctx context.Context, kind soak.Kind) (undo, bool, error) {
	addons := r.lab.Addons()
	heal := func(ctx context.Context) error { return addons.Heal(ctx, lab.MinIO) }
	switch kind {
	case soak.Backup:
		return nil, true, r.backup(ctx)
	case soak.Restore:
		return nil, true, r.restore(ctx)
	case soak.StopStorage:
		return heal, true, addons.Stop(ctx, lab.MinIO)
	case soak.FreezeStorage:
		return heal, true, addons.Freeze(ctx, lab.MinIO)
	case soak.CutStorage:
		return heal, true, addons.Cut(ctx, lab.MinIO, cutAfter)
	case soak.FillStorage:
		return heal, true, addons.Fill(ctx, lab.MinIO)
	case soak.SealStorage:
		return heal, true, addons.Seal(ctx, lab.MinIO)
	default:
		return nil, false, nil
	}
}

// backup begins a backup, into a folder of its own.
func (r *round) backup(ctx context.Context) error {
	object, err := r.Get(ctx)
	if err != nil {
		return err
	}
	r.begun++
	name := fmt.Sprintf("backup-%d", r.begun)
	err = r.bench.Create(ctx, &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: name},
		Spec: v1beta2.EtcdBackupSpec{EtcdCluster: &v1beta2.EtcdClusterRef{Name: r.Name}, Storage: &v1beta2.Storage{
			URL:                  fmt.Sprintf("s3://%s/%s/%s", r.bench.store.Bucket, object.UID, name),
			CredentialsSecretRef: v1beta2.SecretRef{Name: lab.MinIO}, CABundleRef: v1beta2.CABundleRef{Name: storageCA},
			Endpoint: r.bench.store.URL, ForcePathStyle: true,
		}},
	})
	if err == nil {
		r.backups = append(r.backups, name)
	}
	return err
}

// restore begins another cluster from the last snapshot. It is not restored in place: the clients' history would end there.
func (r *round) restore(ctx context.Context) error {
	if len(r.backups) == 0 {
		return nil // the backup was left out
	}
	name := r.backups[len(r.backups)-1]
	r.copies++
	_, err := r.bench.NewCluster(ctx, r.Namespace, r.copyName(), v1beta2.EtcdClusterSpec{
		Size: 1, Version: newVersion, Pod: onClaims(),
		RestoreFrom: &v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: name}},
	})
	if err == nil {
		r.restored = name
	}
	return err
}

// copyName is that of the last cluster that was made from a snapshot. Each has its own: volumes may outlive a cluster.
func (r *round) copyName() string { return fmt.Sprintf("restored-%d", r.copies) }

// stored waits until every backup has succeeded, and until a cluster that is being made from one holds what that one does.
func (r *round) stored(ctx context.Context) error {
	for i, name := range r.backups {
		done, err := r.backedUp(ctx, name)
		if err == nil && !done.Status.Succeeded {
			log.Printf("%s was given up, another one takes its place: %+v", name, done.Status.Conditions)
			if err = r.backup(ctx); err != nil {
				return err
			}
			last := len(r.backups) - 1
			name, r.backups = r.backups[last], r.backups[:last]
			r.backups[i] = name
			done, err = r.backedUp(ctx, name)
		}
		if err != nil {
			return err
		}
		if !done.Status.Succeeded {
			return fmt.Errorf("%w: %s: %+v", errGivenUp, name, done.Status.Conditions)
		}
	}
	if r.restored == "" {
		return nil
	}
	defer func() { r.restored = "" }()
	return r.compare(ctx)
}

// compare waits for the cluster that is made from a snapshot, and compares it with what there was.
func (r *round) compare(ctx context.Context) error {
	done, err := r.backedUp(ctx, r.restored)
	if err != nil {
		return err
	}
	other := &harness.Cluster{Env: r.bench.Env, Namespace: r.Namespace, Name: r.copyName()}
	if err := other.Healthy(ctx, limit); err != nil {
		return fmt.Errorf("restore %s: %w", r.restored, err)
	}
	is, err := content(ctx, other, 0)
	if err != nil {
		return err
	}
	held, err := r.held(ctx, is, done.Status.Snapshots[0].Revision)
	if err != nil {
		return err
	}
	log.Printf("the cluster from %s holds the same %d keys as at revision %d", r.restored, len(is), held)
	return other.Remove(ctx, limit)
}

// held is the first revision, from the one on, at which the cluster held exactly this. A snapshot's revision is etcd's when the
// snapshot was started: it holds that one or a later one, whole.
func (r *round) held(ctx context.Context, want map[string]string, from int64) (int64, error) {
	first, err := content(ctx, r.Cluster, from)
	if err != nil {
		return 0, err
	}
	for at, was := from, first; ; at++ {
		if maps.Equal(was, want) {
			return at, nil
		}
		if was, err = content(ctx, r.Cluster, at+1); errors.Is(err, rpctypes.ErrFutureRev) {
			return 0, fmt.Errorf("%w: %s held %v at revision %d and never %v", errDiffers, r.Name, first, from, want)
		} else if err != nil {
			return 0, err
		}
	}
}

var (
	errDiffers = errors.New("a restored cluster differs")
	errGivenUp = errors.New("a backup of a healthy cluster was given up")
)

// excuses are reasons for which a backup may be given up under faults: the storage takes nothing from its client, or no majority of
// the members could be asked.
var excuses = []string{v1beta2.ReasonStorageReadOnly, v1beta2.ReasonStorageAccessDenied, v1beta2.ReasonStaleBackup}

// backedUp waits until a backup has succeeded, or was given up.
func (r *round) backedUp(ctx context.Context, name string) (*v1beta2.EtcdBackup, error) {
	var object *v1beta2.EtcdBackup
	err := harness.Await(ctx, "the backup "+name, limit, func(ctx context.Context) (string, bool) {
		object = &v1beta2.EtcdBackup{}
		if err := r.bench.Client.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: name}, object); err != nil {
			return err.Error(), false
		}
		s := object.Status
		said := meta.FindStatusCondition(s.Conditions, v1beta2.ConditionBackedUp)
		gaveUp := s.Run == nil && said != nil && said.Status == metav1.ConditionFalse && slices.Contains(excuses, said.Reason)
		return fmt.Sprintf("%+v", s.Conditions), gaveUp || s.Succeeded && len(s.Snapshots) > 0
	})
	return object, err
}

// content is all that a cluster holds at a revision, 0 for now.
func content(ctx context.Context, c *harness.Cluster, revision int64) (map[string]string, error) {
	held := map[string]string{}
	return held, c.Ask(ctx, func(ctx context.Context, etcd *clientv3.Client) error {
		answer, err := etcd.Get(ctx, "", clientv3.WithPrefix(), clientv3.WithRev(revision))
		if err != nil {
			return err
		}
		for _, kv := range answer.Kvs {
			held[string(kv.Key)] = string(kv.Value)
		}
		return nil
	})
}
