package snapshot

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	// lastRefused is how many manifests the storage may refuse to read until no more are tried: with credentials that may not read, none of
	// thousands can be.
	lastRefused = 3
	// lastTried is how many manifests are read at most. Damaged ones take no more than a read each: whoever may add objects, but not change
	// them, is not to hide the last backup behind a few.
	lastTried = 50
	// lastSkew is how much a clock may have been ahead when a backup was taken. One with a later time would be the last one for ever.
	lastSkew = 5 * time.Minute
)

// Last is the backup that a writer has taken last, by its time, and false if there is none, or if the last ones cannot be read. With the key
// of coreos/etcd-operator's names only these are looked at.
func (o *Objects) Last(ctx context.Context, writerUID, legacyKey string, now time.Time) (Manifest, bool, error) {
	names, refused := o.newest(writerUID, legacyKey, now.Add(lastSkew)), 0
	for _, of := range names[:min(len(names), lastTried)] {
		m, found, err := o.Find(ctx, of)
		switch {
		case err == nil && found && m.Writer.UID == writerUID && namesCluster(m):
			return m, true, nil
		case err == nil || reasonOf(err) == v1beta2.ReasonSnapshotDamaged:
			continue
		case !isArchived(err) && !isRefusal(err):
			return Manifest{}, false, err
		}
		if refused++; refused == lastRefused {
			return Manifest{}, false, nil
		}
	}
	return Manifest{}, false, nil
}

// newest are the objects with manifests that have a writer's names, the newest first, without those of a later time than is possible.
func (o *Objects) newest(writerUID, legacyKey string, latest time.Time) []string {
	var names []string
	for object := range o.byName {
		of, isManifest := strings.CutSuffix(object, extensionManifest)
		if isManifest && !timeIn(of).After(latest) && (legacyKey == "" && writtenBy(of, writerUID) || legacyKey != "" && IsLegacyName(of, legacyKey)) {
			names = append(names, of)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(timeIn(b).Compare(timeIn(a)), strings.Compare(b, a)) })
	return names
}

// namesCluster reports whether a manifest names a cluster ID that an etcd can have: with any other, every etcd would be a wrong one.
func namesCluster(m Manifest) bool {
	id, err := strconv.ParseUint(m.Cluster.ID, 16, 64)
	return err == nil && id != 0
}
