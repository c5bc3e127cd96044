package agent

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// verify reads the chosen snapshot whole. If nobody named one it is the latest, and it is not replaced in silence by an
// older one if it turns out damaged: that would give up data, which is for people to decide.
func (r *runner) verify(ctx context.Context) error {
	if r.Verify.Object == "" {
		return r.verifyLatest(ctx)
	}
	m, found, err := snapshot.Find(ctx, r.bucket, r.Verify.Object)
	switch {
	case err != nil:
		return err
	case !found:
		return r.verifyForeign(ctx)
	}
	return r.examine(ctx, m)
}

func (r *runner) verifyLatest(ctx context.Context) error {
	l, err := snapshot.List(ctx, r.bucket, "")
	if err != nil {
		return err
	}
	r.tellDamaged(l.Damaged)
	fit := slices.DeleteFunc(l.Snapshots, func(m snapshot.Manifest) bool { return !r.Verify.fits(m) })
	if len(fit) == 0 {
		return &snapshot.Error{Reason: v1beta2.ReasonNoSuchObject, Lasting: true, Message: fmt.Sprintf(
			"there is no backup%s in %s: correct it, or name an object in spec.snapshot, which may be one without a manifest",
			r.Verify.Choice, r.Storage.URL)}
	}
	if names := clusters(fit); r.Verify.WriterUID == "" && len(names) > 1 {
		return &snapshot.Error{Reason: v1beta2.ReasonStorageMisconfigured, Lasting: true, Message: fmt.Sprintf(
			"%s holds backups of several clusters (%s): say which one is meant, by spec.backup or spec.snapshot; the latest of "+
				"all may be another cluster's", r.Storage.URL, strings.Join(names, ", "))}
	}
	err = r.examine(ctx, fit[0])
	if isDamaged(err) {
		return r.suggest(ctx, err, fit[1:])
	}
	return err
}

// clusters are the names of those that the snapshots are of, or their IDs if they have none.
func clusters(of []snapshot.Manifest) []string {
	names := map[string]bool{}
	for _, m := range of {
		names[nameOf(m.Cluster)] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func nameOf(c snapshot.Cluster) string {
	if c.Name == "" {
		return c.ID
	}
	return c.Namespace + "/" + c.Name
}

// fits tells whether a snapshot is among those to choose from.
func (c Choice) fits(m snapshot.Manifest) bool {
	return (c.WriterUID == "" || m.Writer.UID == c.WriterUID) && (c.ClusterID == "" || m.Cluster.ID == c.ClusterID) &&
		(c.Before.IsZero() || m.TakenAt.Before(c.Before))
}

// String is for messages: what a snapshot must be, with a space before it.
func (c Choice) String() string {
	text := ""
	if c.WriterUID != "" {
		text += " of the EtcdBackup with the UID " + c.WriterUID
	}
	if c.ClusterID != "" {
		text += " of the etcd cluster " + c.ClusterID
	}
	if !c.Before.IsZero() {
		text += " from before " + c.Before.UTC().Format(time.RFC3339)
	}
	return text
}

// examine reads a backup whole and tells whether the etcd version can start from it. Between two versions, only the
// database says whose data it is, so that it has to be restored to see.
func (r *runner) examine(ctx context.Context, m snapshot.Manifest) error {
	data, server := version.Minor(m.StorageVersion), version.Minor(m.EtcdVersion)
	if r.Verify.Trial || data != server {
		content, err := r.try(ctx, m)
		if err != nil {
			return err
		}
		if err := snapshot.CheckVersion(content.Version, r.Verify.EtcdVersion); err != nil {
			return err
		}
		r.result.Snapshot, r.result.DataVersion = r.describe(m, v1beta2.VerifyRestore), content.Version
		return nil
	}
	if err := snapshot.CheckVersion(data, r.Verify.EtcdVersion); err != nil {
		return err
	}
	r.at.step(StepReading)
	if err := snapshot.VerifyChecksum(ctx, r.bucket, m, r.key, r.at.moved); err != nil {
		return err
	}
	r.result.Snapshot, r.result.DataVersion = r.describe(m, v1beta2.VerifyChecksum), data
	return nil
}

// suggestions is how many older snapshots are read to find one that is good.
const suggestions = 5

// suggest says which older snapshot could be named instead of a damaged one. It leaves time to say so.
func (r *runner) suggest(ctx context.Context, cause error, older []snapshot.Manifest) error {
	deadline, _ := ctx.Deadline()
	limited, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
	defer cancel()
	advice := "no older one was found that is good"
	for _, m := range older[:min(suggestions, len(older))] {
		r.at.step(StepReading)
		if snapshot.VerifyChecksum(limited, r.bucket, m, r.key, r.at.moved) == nil {
			advice = fmt.Sprintf("the latest good one is of %s: give its name in spec.snapshot, %s, to restore that",
				m.TakenAt.Format(time.RFC3339), m.Object)
			break
		}
	}
	return &snapshot.Error{
		Reason: v1beta2.ReasonSnapshotDamaged, Lasting: true, Message: cause.Error() + "; " + advice,
	}
}

// verifyForeign restores an object without a manifest into the scratch folder: nothing else tells what it is.
func (r *runner) verifyForeign(ctx context.Context) error {
	folder, err := os.MkdirTemp(r.dirs.Scratch, "verify-*")
	if err != nil {
		return scratchError(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "snapshot.db")
	m, err := r.fetch(ctx, r.Verify.Object, nil, file)
	if err != nil {
		return err
	}
	r.at.step(StepRestoring)
	var content snapshot.Content
	if err := abandon(ctx, func() (err error) {
		content, err = snapshot.Try(file, filepath.Join(folder, "data"), 0)
		return err
	}); err != nil {
		return err
	}
	if err := snapshot.CheckVersion(content.Version, r.Verify.EtcdVersion); err != nil {
		return err
	}
	m.Revision, m.EtcdVersion = content.Current, content.Version
	r.result.Snapshot, r.result.DataVersion = r.describe(m, v1beta2.VerifyRestore), content.Version
	return nil
}

// fetch reads a snapshot whole into a file. If it has no manifest, when its object was written counts as when it was
// taken.
func (r *runner) fetch(ctx context.Context, object string, m *snapshot.Manifest, file string) (snapshot.Manifest, error) {
	r.at.step(StepReading)
	found, err := snapshot.FetchFile(ctx, r.bucket, object, m, r.key, file, r.at.moved)
	if err != nil || m != nil {
		return found, err
	}
	for o, err := range r.bucket.List(ctx, object) {
		if err != nil {
			return found, err
		}
		if o.Name == object {
			found.TakenAt = o.Changed.UTC().Truncate(time.Second)
		}
	}
	return found, nil
}
