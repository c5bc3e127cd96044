package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// cleanUpTimeout is how long it may take to delete what failed verification. The kubelet waits 30 s.
const cleanUpTimeout = 20 * time.Second

// complete verifies what was saved. What is damaged is deleted, so that it is not mistaken for a good backup; what could not be
// verified stays, because it may be the only copy, and is verified by the next attempt of an EtcdBackup's run.
func (r *runner) complete(ctx context.Context, m snapshot.Manifest) error {
	err := r.check(ctx, m)
	switch {
	case isDamaged(err) && ctx.Err() == nil: // an interrupted verification proves nothing
		return r.discard(ctx, m, err)
	case err != nil:
		r.result.Snapshot = r.describe(m, v1beta2.VerifyNone)
		return &uncheckedError{where: r.bucket.URL(m.Object), cause: err}
	case m.Stale && !r.Backup.AcceptStale:
		r.result.Snapshot = r.describe(m, r.verification())
		return r.stale(m)
	case m.Stale:
		r.warn("%s", r.stale(m))
	}
	if m, err = r.settle(ctx, m); err != nil {
		return err
	}
	r.result.Snapshot = r.describe(m, r.verification())
	if !m.Stale {
		r.prune(ctx, m)
	}
	return nil
}

// uncheckedError says what could not be verified, and why.
type uncheckedError struct {
	where string
	cause error
}

func (e *uncheckedError) Error() string {
	return fmt.Sprintf("%s is in the storage but could not be verified: %v", e.where, e.cause)
}

func (e *uncheckedError) Unwrap() error { return e.cause }

// failure is the one for status. It is terminal if the reason why the verification failed is.
func (e *uncheckedError) failure(why *failure.Problem) *failure.Problem {
	copied := uncheckedError{where: e.where, cause: errors.New(why.Message)}
	message := copied.Error()
	if why.Terminal {
		message += "; until this is fixed no backup counts as successful, and no older one is deleted"
	}
	return &failure.Problem{Reason: v1beta2.ReasonBackupUnverified, Message: message, Terminal: why.Terminal}
}

// stale is the failure of a snapshot that may not have the cluster's latest data.
func (r *runner) stale(m snapshot.Manifest) error {
	why := fmt.Sprintf("%s had no quorum, so the cluster may have accepted writes without it: check the network between the members, "+
		"and from this pod to each of them", m.Member.Endpoint)
	if m.Revision < r.Backup.Revision {
		why = fmt.Sprintf("the cluster had revision %d before: data was lost, or its members cannot reach each other", r.Backup.Revision)
	}
	return failure.New(failure.Problem{Reason: v1beta2.ReasonStaleBackup, Message: fmt.Sprintf(
		"%s is in the storage but may be stale: it has revision %d, and %s; no older backup was deleted",
		r.bucket.URL(m.Object), m.Revision, why)})
}

// repeatable makes damage retriable: a snapshot that has arrived damaged may arrive intact the next time.
func repeatable(err error) error {
	if !isDamaged(err) {
		return err
	}
	return failure.New(failure.Problem{Reason: v1beta2.ReasonSnapshotDamaged, Message: err.Error()})
}

// discard deletes a backup that is proved to be damaged, and returns the damage.
func (r *runner) discard(ctx context.Context, m snapshot.Manifest, cause error) error {
	fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	if r.once() && m.Object == r.Backup.LegacyKey && !r.stillOurs(fresh, m) {
		r.warn("%s failed verification and is not deleted, because the object has been overwritten by another writer since", r.bucket.URL(m.Object))
		return cause
	}
	if err := snapshot.Delete(fresh, r.bucket, m); err != nil {
		r.warn("%s failed verification and could not be deleted: delete it. %v", r.bucket.URL(m.Object), err)
		return cause
	}
	r.result.Discarded = m.Object
	return cause
}

// stillOurs reports whether the manifest at the key is still the one that this run wrote.
func (r *runner) stillOurs(ctx context.Context, m snapshot.Manifest) bool {
	here, err := snapshot.Look(ctx, r.bucket, m.Object)
	if err != nil {
		return false
	}
	there, found, err := here.Find(ctx, m.Object)
	return err == nil && found && there.Writer == m.Writer && there.StoredSHA256 == m.StoredSHA256 && there.Run == m.Run
}

// resume continues with what an earlier attempt of the run has saved, and is done if that is verified now. A snapshot that cannot be
// found, is damaged, or was encrypted with another passphrase, is taken again.
func (r *runner) resume(ctx context.Context, here *snapshot.Objects) (done bool, err error) {
	if !r.Backup.Again {
		return false, nil
	}
	l, err := here.List(ctx)
	if err != nil {
		r.warn("cannot list what an earlier attempt saved: %v", err)
		return false, nil
	}
	own := slices.DeleteFunc(r.own(l), func(m snapshot.Manifest) bool { return !r.resumes(m) })
	if len(own) == 0 {
		return false, nil
	}
	// Prefer the one with an interim name: if it still exists it has not completely replaced the one at the key.
	interim := slices.IndexFunc(own, func(m snapshot.Manifest) bool { return m.Object != r.Backup.LegacyKey })
	if err = r.complete(ctx, own[max(interim, 0)]); err == nil {
		return true, nil
	}
	if reason := explain(err).Reason; reason != v1beta2.ReasonSnapshotDamaged && reason != v1beta2.ReasonEncryptionKeyRefused {
		return false, err
	}
	r.warn("cannot use what an earlier attempt saved: %v", err)
	r.result.Snapshot = nil
	return false, nil
}

// resumes reports whether a backup is what this run asks for, with the present spec.
func (r *runner) resumes(m snapshot.Manifest) bool {
	return m.Run == r.Backup.Run && !m.Stale && r.encoding().Made(m) &&
		(r.Backup.Cluster.ID == "" || task.SameCluster(m.Cluster.ID, r.Backup.Cluster.ID))
}

// source is etcd. Of a cluster without quorum each snapshot is taken only once: nothing can be written there. Of one whose revision
// went back one is taken in each run: it may continue from there, and every attempt would be another full copy.
func (r *runner) source(here *snapshot.Objects, from snapshot.Source) snapshot.Source {
	return func(ctx context.Context) (*snapshot.Stream, error) {
		s, err := from(ctx)
		if err != nil {
			return nil, err
		}
		s.SetBack = !s.Stale && s.Revision < r.Backup.Revision
		s.Stale = s.Stale || s.SetBack
		if !s.Stale || r.Backup.AcceptStale {
			return s, nil
		}
		if m, found := r.saved(ctx, here, s); found {
			r.result.Snapshot = r.describe(m, v1beta2.VerifyNone)
			return nil, errors.Join(r.stale(m), s.Body.Close())
		}
		return s, nil
	}
}

// saved finds an earlier copy of a stale snapshot, or the one that the run already has. If nothing can be listed, a second copy is
// better than none.
func (r *runner) saved(ctx context.Context, here *snapshot.Objects, s *snapshot.Stream) (snapshot.Manifest, bool) {
	l, err := here.List(ctx)
	if err != nil {
		return snapshot.Manifest{}, false
	}
	own := r.own(l)
	i := slices.IndexFunc(own, func(m snapshot.Manifest) bool {
		same := m.Revision == s.Revision && m.Keys == s.Keys || m.SetBack && s.SetBack && m.Run == r.Backup.Run
		return m.Stale && task.SameCluster(m.Cluster.ID, s.ClusterID) && same
	})
	if i < 0 {
		return snapshot.Manifest{}, false
	}
	return own[i], true
}

// destination is the name of a single backup in coreos/etcd-operator's form: the key, or empty if it would replace an existing
// object. That one stays until the new one is known to be good.
func (r *runner) destination(here *snapshot.Objects) string {
	key := r.Backup.LegacyKey
	if !r.Backup.Periodic && r.verification() != v1beta2.VerifyNone && here.Has(key) {
		return ""
	}
	return key
}

// settle moves a good backup from its interim name to the key. At every moment there is one that is known to be good.
func (r *runner) settle(ctx context.Context, m snapshot.Manifest) (snapshot.Manifest, error) {
	key := r.Backup.LegacyKey
	if key == "" || r.Backup.Periodic || m.Object == key {
		return m, nil
	}
	r.at.step(task.StepSaving)
	var settled snapshot.Manifest
	here, err := snapshot.Look(ctx, r.bucket, key)
	if err == nil {
		_, err = r.vacant(ctx, here) // another writer may have written there since
	}
	if err == nil {
		settled, err = snapshot.Copy(ctx, r.bucket, m, key, r.at.moved)
	}
	if err == nil {
		err = r.readBack(ctx, settled)
	}
	if err != nil {
		r.result.Snapshot = r.describe(m, r.verification())
		return m, fmt.Errorf("%s is good, but could not replace %s: %w", r.bucket.URL(m.Object), r.bucket.URL(key), err)
	}
	if err := snapshot.Delete(ctx, r.bucket, m); err != nil {
		r.warn("%s exists twice: delete %s. %v", r.bucket.URL(key), r.bucket.URL(m.Object), err)
	}
	return settled, nil
}
