package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Run runs the task. It stops if the context is cancelled, as it is when the pod is terminated, and then removes what it has started
// to write.
func Run(ctx context.Context, t task.Task, d Dirs, p *Tracker) task.Result {
	limited, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	r := &runner{Task: t, dirs: d, at: p}
	r.conclude(ctx, limited, r.run(limited))
	return r.result
}

// conclude records why the task failed, if it did.
func (r *runner) conclude(ctx, limited context.Context, err error) {
	var unchecked *uncheckedError
	switch {
	case errors.As(err, &unchecked):
		r.result.Failure = unchecked.failure(r.failure(ctx, limited, unchecked.cause))
	case err != nil:
		r.result.Failure = r.failure(ctx, limited, err)
	}
}

// failure is why the task failed. The error of a library whose context has ended is ignored.
func (r *runner) failure(ctx, limited context.Context, err error) *failure.Problem {
	switch {
	case ctx.Err() != nil:
		return r.interrupted()
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return r.tooSlow()
	}
	return explain(err)
}

// runner is one task in progress.
type runner struct {
	task.Task
	dirs   Dirs
	at     *Tracker
	bucket *blobstore.Bucket
	key    *snapshot.Key
	login  login
	result task.Result
}

func (r *runner) run(ctx context.Context) error {
	r.at.step(task.StepConnecting)
	if r.Restore != nil {
		// This may be a later start: then neither the storage nor the key needs to exist.
		if done, err := restored(r.Restore.Folder); done || err != nil {
			return err
		}
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	defer func() { _ = r.bucket.Close() }()
	switch {
	case r.Backup != nil:
		return r.backup(ctx)
	case r.Clean != nil:
		return r.clean(ctx)
	case r.Verify != nil:
		return r.verify(ctx)
	case r.Restore != nil:
		return r.restore(ctx)
	}
	return errors.New("the task is empty")
}

// interrupted is the failure of a task whose pod is terminated.
func (r *runner) interrupted() *failure.Problem {
	return &failure.Problem{
		Reason: v1beta2.ReasonSnapshotFailed,
		Message: fmt.Sprintf("the pod was terminated, as by a node drain, while it was %s; retrying",
			r.at.Progress()),
	}
}

// tooSlow is the failure of a task that timed out.
func (r *runner) tooSlow() *failure.Problem {
	field := "spec.backupPolicy.timeoutSeconds"
	if r.Writer.Kind == task.KindRestore {
		field = "spec.timeoutSeconds"
	}
	return &failure.Problem{
		Reason: v1beta2.ReasonTimeout,
		Message: fmt.Sprintf("timed out after %s while it was %s; check how fast etcd and the storage are, and raise %s",
			r.Timeout, r.at.Progress(), field),
	}
}

func explain(err error) *failure.Problem {
	p := snapshot.Explain(err)
	return &p
}

func isDamaged(err error) bool {
	return err != nil && explain(err).Reason == v1beta2.ReasonSnapshotDamaged
}

// abandon waits for work that takes no context until the context ends: then the process exits anyway. What the work returns is nobody's
// before it is done, so work must not write anything that its caller reads.
func abandon[T any](ctx context.Context, work func() (T, error)) (result T, err error) {
	done := make(chan func() (T, error), 1)
	go func() {
		result, err := work()
		done <- func() (T, error) { return result, err }
	}()
	select {
	case of := <-done:
		return of()
	case <-ctx.Done():
		return result, context.Cause(ctx)
	}
}

// warningLimit is the maximum size of a warning in bytes: a few must fit into a Result.
const warningLimit = 500

func (r *runner) warn(format string, args ...any) {
	r.result.Warnings = append(r.result.Warnings, failure.Cut(fmt.Sprintf(format, args...), warningLimit))
}

// warnOfDamaged warns of manifests without a snapshot that can be restored.
func (r *runner) warnOfDamaged(all []snapshot.Damaged) {
	if len(all) > 0 {
		r.warn("%d backups here are damaged or cannot be read, and are ignored; the first is that of %s: %s. Check them",
			len(all), r.bucket.URL(all[0].Manifest), all[0].Problem.Message)
	}
}

// describe is a snapshot in the form of status, verified in this way just now.
func (r *runner) describe(m snapshot.Manifest, how v1beta2.Verification) *v1beta2.SnapshotStatus {
	s := &v1beta2.SnapshotStatus{
		Name: m.Object, URL: r.bucket.URL(m.Object), Cluster: nameOf(m.Cluster), ClusterID: m.Cluster.ID, Stale: m.Stale,
		Revision: m.Revision, EtcdVersion: m.EtcdVersion, SizeBytes: m.Size, StoredSizeBytes: m.StoredSize, SHA256: m.StoredSHA256, Verification: how,
	}
	s.CreationTime.Time = m.TakenAt
	if how != v1beta2.VerifyNone {
		now := time.Now().UTC().Truncate(time.Second)
		s.VerificationTime = &metav1.Time{Time: now}
	}
	return s
}
