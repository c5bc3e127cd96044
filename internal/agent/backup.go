package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// backup leaves the older backups alone until the new one is known to be good.
func (r *runner) backup(ctx context.Context) error {
	if r.Backup.Verify == v1beta2.VerifyRestore && r.sealed() {
		return failure.New(failure.Problem{Reason: v1beta2.ReasonEncryptionKeyRefused, Terminal: true, Message: "spec.verify: Restore " +
			"reads the backup, which only an identity of spec.encryptionRecipients can: set verify to Checksum"})
	}
	config, err := r.etcd()
	if err != nil {
		return err
	}
	expected, err := clusterID(r.Backup.Cluster.ID)
	if err != nil {
		return err
	}
	// This comes before etcd has any work, and because services report here what is wrong with the credentials, which they do not
	// when something is deleted. There is no other writer for the EtcdBackup meanwhile, so the list stays valid.
	here, err := snapshot.Look(ctx, r.bucket, r.Backup.LegacyKey)
	if err != nil {
		return err
	}
	there, err := r.vacant(ctx, here)
	if err != nil {
		return err
	}
	r.sweep(time.Now())
	if done, err := r.resume(ctx, here); done || err != nil {
		return err
	}
	source, err := r.exclusive(ctx, here, there, config, expected)
	if err != nil {
		return err
	}
	e := r.encoding()
	job := snapshot.Job{
		Name: r.name(r.destination(here), e), Cluster: r.Backup.Cluster, Writer: r.Writer, Run: r.Backup.Run, Encoding: e,
		Progress: r.at.moved, Spool: r.spool(), New: r.once() && !here.Has(r.Backup.LegacyKey),
	}
	m, err := snapshot.Save(ctx, r.bucket, r.source(here, source), job)
	if errors.Is(err, blobstore.ErrNoCondition) {
		job.New = false
		m, err = snapshot.Save(ctx, r.bucket, r.source(here, source), job)
	}
	if err != nil {
		return r.denied(repeatable(err))
	}
	return repeatable(r.complete(ctx, m))
}

// once reports whether it is a single backup with a key, in coreos/etcd-operator's form.
func (r *runner) once() bool { return r.Backup.LegacyKey != "" && !r.Backup.Periodic }

func (r *runner) encoding() snapshot.Encoding {
	return snapshot.Encoding{Compress: r.Backup.Compress, Key: r.key}
}

// sweep frees space: what a killed pod has left on a volume may be as large as a backup, and leave no room for another one.
func (r *runner) sweep(now time.Time) {
	removed, err := snapshot.Sweep(r.bucket, r.Writer.UID, now)
	if err != nil {
		r.warn("cannot remove what an earlier pod left: %v", err)
	}
	if removed > 0 {
		slog.Info("removed what earlier pods left", "files", removed)
	}
}

// clusterID reads an ID as etcd's own tools write it; 0 if there is none.
func clusterID(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("read the cluster ID: %w", err)
	}
	return id, nil
}

// name names the object once its stream is open. The target is the fixed name, empty if there is none.
func (r *runner) name(target string, e snapshot.Encoding) func(*snapshot.Stream) string {
	return func(s *snapshot.Stream) string {
		r.at.step(task.StepSaving)
		switch {
		case r.Backup.LegacyKey == "":
			return snapshot.Name(s.Revision, s.TakenAt, r.Writer.UID, e)
		case r.Backup.Periodic:
			return snapshot.LegacyName(r.Backup.LegacyKey, s.Revision, s.TakenAt)
		case target == "":
			return snapshot.InterimName(r.Backup.LegacyKey, s.Revision, s.TakenAt, r.Writer.UID, e)
		}
		return target
	}
}

// vacant checks that the object's name is free, if it does not depend on the snapshot, and returns an existing backup that may be
// overwritten: a recreated EtcdBackup overwrites what it has written before, as with coreos/etcd-operator.
func (r *runner) vacant(ctx context.Context, here *snapshot.Objects) ([]snapshot.Manifest, error) {
	if !r.once() {
		return nil, nil
	}
	m, found, err := here.Find(ctx, r.Backup.LegacyKey)
	switch {
	case isDamaged(err):
		return nil, nil // what is there is unusable
	case err != nil || !found:
		return nil, err
	}
	theirs, ours := m.Writer, r.Writer
	theirs.UID, ours.UID = "", ""
	if theirs != ours {
		whose := m.Writer.Kind + " " + m.Writer.Name
		if theirs.Namespace != ours.Namespace {
			whose = "another namespace" // whose name is not disclosed to this one
		}
		return nil, failure.New(failure.Problem{Reason: v1beta2.ReasonStorageMisconfigured, Terminal: true, Message: fmt.Sprintf(
			"%s is a backup of %s, and is not overwritten: set another path", r.bucket.URL(m.Object), whose)})
	}
	return []snapshot.Manifest{m}, nil
}

// verification is how the new backup is verified, as status has it.
func (r *runner) verification() v1beta2.Verification {
	switch {
	case r.Backup.Verify == v1beta2.VerifyNone:
		return v1beta2.VerifyNone
	case r.sealed():
		return v1beta2.VerifyCiphertext
	case r.Backup.Verify == "":
		return v1beta2.VerifyChecksum
	}
	return r.Backup.Verify
}

// sealed reports whether the backup is encrypted to recipients, and cannot be decrypted here.
func (r *runner) sealed() bool { return r.key != nil && !r.key.Reads() }

// check verifies the new backup as the task says.
func (r *runner) check(ctx context.Context, m snapshot.Manifest) error {
	switch r.verification() {
	case v1beta2.VerifyNone:
		return nil
	case v1beta2.VerifyRestore:
		_, err := r.try(ctx, m)
		return err
	default:
		return r.readBack(ctx, m)
	}
}

// readBack compares a backup with its manifest, as far as it can be decrypted.
func (r *runner) readBack(ctx context.Context, m snapshot.Manifest) error {
	r.at.step(task.StepReading)
	if r.sealed() {
		return snapshot.VerifyCiphertext(ctx, r.bucket, m, r.at.moved)
	}
	return snapshot.VerifyChecksum(ctx, r.bucket, m, r.key, r.at.moved)
}

// try restores a backup into the scratch folder.
func (r *runner) try(ctx context.Context, m snapshot.Manifest) (snapshot.Content, error) {
	content, err := abandon(ctx, func() (snapshot.Content, error) {
		return snapshot.VerifyRestore(ctx, r.bucket, m, r.key, r.dirs.Scratch, r.at.reading(m.Size))
	})
	if err == nil {
		r.warnOfAlarms(content.Database.Alarms)
	}
	return content, err
}

// clean deletes what the writer has written. It writes no more, so even recent unfinished objects are leftovers.
func (r *runner) clean(ctx context.Context) error {
	r.at.step(task.StepDeleting)
	always := time.Now().AddDate(1, 0, 0)
	r.sweep(always)
	l, err := snapshot.List(ctx, r.bucket, "")
	if err != nil && explain(err).Reason == v1beta2.ReasonNoSuchBucket {
		return nil
	}
	if err != nil {
		return err
	}
	r.warnOfDamaged(l.Damaged)
	backups, objects, err := snapshot.DeleteAll(ctx, r.bucket, r.own(l), snapshot.Leftovers(l.Orphans, r.Writer.UID, always))
	for _, m := range backups {
		r.result.Deleted = append(r.result.Deleted, m.Object)
	}
	r.result.Deleted = append(r.result.Deleted, objects...)
	return err
}
