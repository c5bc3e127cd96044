package snapshot

import (
	"cmp"
	"context"
	"slices"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// lastTried is how many manifests are read at most for the last backup: with credentials that may not read, none of thousands can be.
const lastTried = 3

// Last is the backup that a writer has taken last, by its time, and false if there is none, or if the last ones cannot be read. With the key
// of coreos/etcd-operator's names only these are looked at.
func (o *Objects) Last(ctx context.Context, writerUID, legacyKey string) (Manifest, bool, error) {
	var names []string
	for object := range o.byName {
		of, isManifest := strings.CutSuffix(object, extensionManifest)
		if isManifest && (legacyKey == "" && writtenBy(of, writerUID) || legacyKey != "" && IsLegacyName(of, legacyKey)) {
			names = append(names, of)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(timeIn(b).Compare(timeIn(a)), strings.Compare(b, a)) })
	for _, of := range names[:min(len(names), lastTried)] {
		m, found, err := o.Find(ctx, of)
		switch {
		case err == nil && found && m.Writer.UID == writerUID:
			return m, true, nil
		case err != nil && reasonOf(err) != v1beta2.ReasonSnapshotDamaged && !isArchived(err) && !isRefusal(err):
			return Manifest{}, false, err
		}
	}
	return Manifest{}, false, nil
}
