package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// choose returns the snapshots to choose from, the latest first: those of the one lineage that descends from all others. It refuses to
// guess if there are several, or if one that cannot be read may be newer than the latest.
func (r *runner) choose(l snapshot.Listing) (snapshot.Lineage, error) {
	lineages := snapshot.Lineages(l.Snapshots)
	candidates := 0
	for i := range lineages {
		lineages[i].Snapshots = slices.DeleteFunc(lineages[i].Snapshots, func(m snapshot.Manifest) bool { return !fits(r.Verify.Choice, m) })
		candidates += len(lineages[i].Snapshots)
	}
	if candidates == 0 {
		return snapshot.Lineage{}, r.nothing(l)
	}
	chosen, ok := snapshot.Head(lineages)
	if !ok {
		return snapshot.Lineage{}, r.several(lineages)
	}
	latest := chosen.Snapshots[0]
	for _, d := range l.Damaged {
		if d.MayBeNewer(latest) && mayFit(r.Verify.Choice, d) {
			return snapshot.Lineage{}, r.hidden(d, latest)
		}
	}
	r.warnOfDoubts(chosen)
	return chosen, nil
}

// fits reports whether a snapshot is among those to choose from. The safety snapshot of an EtcdRestore never is: it is data that was
// about to be replaced.
func fits(c task.Choice, m snapshot.Manifest) bool {
	return m.Writer.Kind != task.KindRestore && writtenBy(c, m.Writer) &&
		(c.ClusterID == "" || task.SameCluster(m.Cluster.ID, c.ClusterID)) &&
		(c.Before.IsZero() || m.TakenAt.Before(c.Before))
}

// mayFit reports whether the snapshot of a damaged manifest may be among those to choose from.
func mayFit(c task.Choice, d snapshot.Damaged) bool {
	if d.Says.Object != "" {
		return fits(c, d.Says)
	}
	return c.Before.IsZero() || d.TakenAt().Before(c.Before)
}

// writtenBy reports whether the writer is the chosen EtcdBackup, or an earlier one of the same name: after a disaster no other is
// left. Which cluster the data is of is decided by the lineage.
func writtenBy(c task.Choice, w task.Writer) bool {
	meant := c.Writer
	if meant == (task.Writer{}) || meant.UID == w.UID {
		return true
	}
	meant.UID, w.UID = "", ""
	return meant == w
}

// nothing is the error if there is nothing to choose from, with what is available instead.
func (r *runner) nothing(l snapshot.Listing) error {
	instead := ""
	if len(l.Snapshots) > 0 {
		instead = "; available are: " + describeAll(snapshot.Lineages(l.Snapshots), allNamespaces)
	}
	passing := slices.ContainsFunc(l.Damaged, func(d snapshot.Damaged) bool { return !d.Problem.Terminal })
	return failure.New(failure.Problem{Reason: v1beta2.ReasonNoSuchObject, Terminal: !passing, Message: fmt.Sprintf(
		"no backup%s found in %s: correct it, or set spec.snapshot to an object, which may be one without a manifest, or "+
			"the safety snapshot of an EtcdRestore%s", r.Verify.Choice, r.Storage.URL, instead)})
}

// several is the error if several lineages compete.
func (r *runner) several(lineages []snapshot.Lineage) error {
	return failure.New(failure.Problem{Reason: v1beta2.ReasonSeveralLineages, Terminal: true, Message: fmt.Sprintf(
		"%s holds backups of several clusters, none of which descends from all the others, so it is ambiguous which the latest is: "+
			"create another EtcdRestore with spec.clusterID, or spec.snapshot. The newest is not necessarily the right one: "+
			"a cluster that was recreated empty, or a copy, is backed up too. These are: %s", r.Storage.URL, describeAll(lineages, allNamespaces))})
}

// hidden is the error if the only choice is an older snapshot than one that cannot be read.
func (r *runner) hidden(d snapshot.Damaged, latest snapshot.Manifest) error {
	return failure.New(failure.Problem{Reason: d.Problem.Reason, Terminal: d.Problem.Terminal, Message: fmt.Sprintf(
		"the backup of %s cannot be read and may be newer than the latest readable one: %s. Make it "+
			"readable; do not delete it unless it is known to be damaged, as it may be the only copy of the last writes. To "+
			"restore older data deliberately, set spec.snapshot to %s (revision %d, taken at %s)",
		r.bucket.URL(d.Manifest), d.Problem.Message, latest.Object, latest.Revision, latest.TakenAt.Format(time.RFC3339))})
}

// warnOfDoubts warns of what makes the latest snapshot of a lineage doubtful.
func (r *runner) warnOfDoubts(l snapshot.Lineage) {
	latest := l.Snapshots[0]
	if latest.Stale {
		r.warn("%s was taken from a member without quorum: the cluster may have accepted later writes. No other backup of it "+
			"is more recent", latest.Object)
	}
	for _, m := range l.Snapshots[1:] {
		if m.TakenAt.After(latest.TakenAt) && m.Revision < latest.Revision && !m.Stale {
			r.warn("%s has revision %d, but by the clock %s is later, with revision %d: a clock was wrong, or etcd was rolled back outside "+
				"the operator; to restore the later one, set spec.snapshot to it", latest.Object, latest.Revision, m.Object, m.Revision)
			return
		}
	}
}

// lineagesNamed is the maximum number of lineages in a message.
const lineagesNamed = 6

// allNamespaces shows the clusters of all namespaces: whoever restores a snapshot can read everything there anyway.
const allNamespaces = ""

// describeAll describes lineages so that users of a namespace can distinguish them.
func describeAll(lineages []snapshot.Lineage, namespace string) string {
	var all []string
	for _, l := range lineages {
		if len(l.Snapshots) > 0 {
			all = append(all, describeLineage(l, namespace))
		}
	}
	if len(all) > lineagesNamed {
		all = append(all[:lineagesNamed], fmt.Sprintf("and %d more", len(all)-lineagesNamed))
	}
	return strings.Join(all, "; ")
}

func describeLineage(l snapshot.Lineage, namespace string) string {
	newest, of := l.Snapshots[0], "an etcd"
	if l.Cluster.Name != "" {
		of = "EtcdCluster " + nameOf(l.Cluster)
	}
	if l.Cluster.UID != "" {
		of += " (UID " + l.Cluster.UID + ")"
	}
	by := fmt.Sprintf("%s %s/%s", newest.Writer.Kind, newest.Writer.Namespace, newest.Writer.Name)
	if namespace != allNamespaces && l.Cluster.Namespace != "" && l.Cluster.Namespace != namespace {
		of = "another namespace"
	}
	if namespace != allNamespaces && newest.Writer.Namespace != namespace {
		by = "another namespace"
	}
	return fmt.Sprintf("cluster ID %s of %s: %d, the newest %s of %s, revision %d, %d keys, taken at %s", l.Cluster.ID, of,
		len(l.Snapshots), newest.Object, by, newest.Revision, newest.Keys, newest.TakenAt.Format(time.RFC3339))
}

func nameOf(c task.Cluster) string {
	if c.Name == "" {
		return c.ID
	}
	return c.Namespace + "/" + c.Name
}
