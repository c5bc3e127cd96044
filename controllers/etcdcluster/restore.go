package etcdcluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/restores"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/status"
	"github.com/etcdpilot/etcd-operator/internal/task"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// restoresKept is the maximum number of restores in status.
const restoresKept = 10

// clusterRestored maps an EtcdRestore to its cluster.
func clusterRestored(_ context.Context, o client.Object) []ctrl.Request {
	restore, ok := o.(*v1beta2.EtcdRestore)
	if !ok {
		return nil
	}
	name := types.NamespacedName{Namespace: restore.Namespace, Name: restore.Spec.EtcdCluster.Name}
	return []ctrl.Request{{NamespacedName: name}}
}

// observeRestore finds the EtcdRestore to carry out now, or the one in progress. The cache is read first, because that costs nothing
// and a delay does no harm; what it finds is confirmed with the API server.
func (r *Reconciler) observeRestore(ctx context.Context, p *pass) error {
	if err := r.observeAwaited(ctx, p); err != nil {
		return err
	}
	if err := r.observeAttempt(ctx, p); err != nil {
		return err
	}
	c := p.cluster
	var chosen *v1beta2.EtcdRestore
	if p.observed.Cluster.CancelReason == nil { // one that is to be canceled gives way to any other
		chosen = p.restore
	}
	list := &v1beta2.EtcdRestoreList{}
	if err := r.Client.List(ctx, list, client.InNamespace(c.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list EtcdRestores: %w", err)
	}
	for i := range list.Items {
		if !wanted(c, &list.Items[i]) {
			continue
		}
		restore := &v1beta2.EtcdRestore{}
		err := r.Live.Get(ctx, client.ObjectKeyFromObject(&list.Items[i]), restore)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read EtcdRestore %s: %w", list.Items[i].Name, err)
		}
		if err == nil && wanted(c, restore) && (chosen == nil || restores.Later(restore, chosen)) {
			chosen, p.restore = restore, restore
			p.observed.Cluster.Restore, p.observed.Cluster.Safety = string(restore.UID), safetyOf(restore)
			p.observed.Cluster.RestorePlan, p.observed.Cluster.RestoreSurvivor = planOf(restore)
		}
	}
	return nil
}

// observeAwaited reads the EtcdRestore that a cluster is to start from.
func (r *Reconciler) observeAwaited(ctx context.Context, p *pass) error {
	c, observed := p.cluster, &p.observed.Cluster
	if observed.WaitsForRestore = awaits(c); observed.WaitsForRestore == "" || c.Status.Bootstrap != nil {
		return nil
	}
	restore := &v1beta2.EtcdRestore{}
	err := r.Live.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: observed.WaitsForRestore}, restore)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read EtcdRestore %s: %w", observed.WaitsForRestore, err)
	}
	observed.CreateRestore = apierrors.IsNotFound(err)
	if err == nil && restore.DeletionTimestamp.IsZero() {
		observed.WaitFailed = neverCarriedOut(c, restore)
	}
	return nil
}

// neverCarriedOut says why a cluster would wait for an EtcdRestore forever, and what to do; empty if it may yet be carried out. Users
// may have created one of that name, also long ago.
func neverCarriedOut(c *v1beta2.EtcdCluster, restore *v1beta2.EtcdRestore) string {
	s := &restore.Status
	answered := s.Phase == "" && (s.Succeeded || s.Reason != "") // by an earlier operator
	switch {
	case s.Phase == v1beta2.RestoreFailed:
		return "has failed: " + s.Reason + "; delete it to have it recreated as it was, or " +
			"create another EtcdRestore for this cluster, for example with another clusterID or snapshot"
	case restore.Spec.EtcdCluster.Name != c.Name:
		return fmt.Sprintf("is for EtcdCluster %s: delete it if it is not needed any more, and one is created for this cluster, or create an "+
			"EtcdRestore for this cluster under another name", restore.Spec.EtcdCluster.Name)
	case s.Phase == v1beta2.RestoreSucceeded && s.ClusterUID == string(c.UID):
		return "has already restored this cluster, whose status and data have been lost since: to start it from the same old " +
			"snapshot again delete that one; for a later backup create another EtcdRestore for this cluster under another name"
	case s.Phase == v1beta2.RestoreSucceeded || answered:
		return "was carried out before this cluster was created: delete it, and one is created for this cluster, or create an " +
			"EtcdRestore for this cluster under another name"
	}
	return ""
}

// observeAttempt reads the EtcdRestore of an attempt in progress. If it is gone, or no longer asks for the restore, the attempt is
// canceled, if that is possible.
func (r *Reconciler) observeAttempt(ctx context.Context, p *pass) error {
	c := p.cluster
	record := status.UnderWay(&c.Status)
	if record == nil {
		return nil
	}
	seen := &p.observed.Cluster
	seen.SafetySnapshot = record.SafetySnapshot
	restore := &v1beta2.EtcdRestore{}
	err := r.Live.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: record.Name}, restore)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read EtcdRestore %s: %w", record.Name, err)
	}
	gone := err != nil || string(restore.UID) != record.UID
	if seen.SourceGone = gone || restore.Status.Source == nil; !seen.SourceGone {
		p.restore = restore
	}
	why := ""
	switch {
	case gone || !restore.DeletionTimestamp.IsZero():
		why = fmt.Sprintf("EtcdRestore %s was deleted", record.Name)
	case restore.Status.Phase != v1beta2.RestoreReplacing || seen.SourceGone:
		why = fmt.Sprintf("EtcdRestore %s no longer asks for it: its phase is %s", record.Name, restore.Status.Phase)
	default:
		return nil
	}
	seen.CancelReason = &failure.Problem{Reason: v1beta2.ReasonRestoreCalledOff, Message: why}
	return nil
}

// safetyOf is what an EtcdRestore has saved of the data that it is to replace.
func safetyOf(restore *v1beta2.EtcdRestore) plan.Safety {
	safety := plan.Safety{
		UnsavedReason: restore.Status.Unsaved, Asleep: restore.Status.Unsaved == plan.UnsavedAsleep,
		Skipped: restore.Spec.SafetySnapshot == v1beta2.SafetySnapshotSkip,
	}
	if saved := restore.Status.SafetySnapshot; saved != nil {
		safety.Stale, safety.Revision = saved.Stale, saved.Revision
	}
	if at := restore.Status.SaveTime; at != nil {
		safety.CompletedAt = at.Time
	}
	return safety
}

// awaits names the EtcdRestore that the cluster is to start from, empty if it may start from nothing.
func awaits(c *v1beta2.EtcdCluster) string {
	if c.Spec.RestoreFrom == nil {
		return ""
	}
	return c.Name + "-restore"
}

// wanted reports whether this very cluster is to carry out the EtcdRestore now: its snapshot has been verified, it is decided about
// the cluster's present data, and it was not carried out before.
func wanted(c *v1beta2.EtcdCluster, restore *v1beta2.EtcdRestore) bool {
	return restore.Spec.EtcdCluster.Name == c.Name && restore.Status.Phase == v1beta2.RestoreReplacing &&
		restore.Status.Source != nil && restore.DeletionTimestamp.IsZero() && restore.Status.ClusterUID == string(c.UID) &&
		restores.Looked(&c.Status, &restore.Status) && !known(c, restore) &&
		(restore.Spec.Member == nil || c.Status.ClusterID != "") // without one there is no plan, and never one for this EtcdRestore
}

// known reports whether the cluster has started with that restore, or has finished it.
func known(c *v1beta2.EtcdCluster, restore *v1beta2.EtcdRestore) bool {
	return slices.ContainsFunc(c.Status.Restores, func(r v1beta2.RestoreRecord) bool { return r.UID == string(restore.UID) })
}

// noteRestore records in status that a restore starts, if one does.
func noteRestore(p *pass, a plan.CommitBootstrap) {
	s := &p.cluster.Status
	if p.restore == nil || known(p.cluster, p.restore) {
		return
	}
	s.Restores = append([]v1beta2.RestoreRecord{recordAttempt(p, a.UnsavedReason)}, s.Restores...)
	s.Restores = s.Restores[:min(len(s.Restores), restoresKept)]
}

// recordAttempt is the record of a restore that starts. The one in progress, which it supersedes, is recorded as canceled, and
// it replaces the data that that one was to replace.
func recordAttempt(p *pass, unsaved string) v1beta2.RestoreRecord {
	s := &p.cluster.Status
	record := v1beta2.RestoreRecord{
		UID: string(p.restore.UID), Name: p.restore.Name, Snapshot: p.restore.Status.Source.Object,
		RevisionFloor: revisionFloor(p), StartTime: metav1.NewTime(p.observed.Now),
		Unsaved: unsaved,
	}
	if from := p.restore.Status.Snapshot; from != nil {
		record.SourceClusterID, record.SourceRevision = from.ClusterID, from.Revision
	}
	if saved := p.restore.Status.SafetySnapshot; saved != nil {
		record.SafetySnapshot = saved.Name
	}
	if before := status.UnderWay(s); before != nil && s.Former != nil { // it replaces the data that the other one was to replace
		record.Unsaved = cmp.Or(record.Unsaved, before.Unsaved)
		record.SafetySnapshot = cmp.Or(record.SafetySnapshot, before.SafetySnapshot)
		before.CalledOff = &v1beta2.RestoreCalledOff{
			Reason: v1beta2.ReasonRestoreSuperseded, StartTime: record.StartTime,
			Message: fmt.Sprintf("superseded by the later EtcdRestore %s", record.Name),
		}
	}
	return record
}

// revisionFloor is the highest revision that clients can have seen, before the record of it is replaced with the rest of the status.
// If an earlier restore was not up yet, it is unknown how far its revision has come: at least as far as it was raised.
func revisionFloor(p *pass) int64 {
	s, of := &p.cluster.Status, &p.restore.Status
	others := []int64{p.observed.Etcd.Revision}
	for _, known := range []*v1beta2.SnapshotStatus{of.Snapshot, of.SafetySnapshot} {
		if known != nil {
			others = append(others, known.Revision)
		}
	}
	if len(s.Restores) > 0 {
		others = append(others, s.Restores[0].RevisionFloor+task.RevisionBump)
	}
	return min(plan.RevisionFloor(s.Revision, others...), math.MaxInt64/2) // so that it can be raised
}

// floorOf is the revision floor that was recorded when a restore started: each attempt restores the same.
func floorOf(c *v1beta2.EtcdCluster, restore *v1beta2.EtcdRestore) int64 {
	i := slices.IndexFunc(c.Status.Restores, func(r v1beta2.RestoreRecord) bool { return r.UID == string(restore.UID) })
	if i < 0 {
		return 0
	}
	return c.Status.Restores[i].RevisionFloor
}

// createRestore creates the EtcdRestore that spec.restoreFrom asks for.
func (r *Reconciler) createRestore(ctx context.Context, p *pass, a plan.CreateRestore) error {
	restore := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{
			Name: a.Name, Namespace: p.cluster.Namespace,
			OwnerReferences: []metav1.OwnerReference{resources.Owner(p.cluster)},
		},
		Spec: v1beta2.EtcdRestoreSpec{
			EtcdCluster:   v1beta2.EtcdClusterRef{Name: p.cluster.Name},
			RestoreSource: *p.cluster.Spec.RestoreFrom,
			Pod:           restorePods(p.cluster.Spec.Pod),
		},
	}
	if err := r.Client.Create(ctx, restore, client.FieldOwner(resources.FieldOwner)); err != nil {
		return fmt.Errorf("create EtcdRestore %s: %w", a.Name, err)
	}
	return nil
}

// restorePods gives the pods that read the snapshot the members' service account and placement: the first member reads it again.
func restorePods(members *v1beta2.PodPolicy) *v1beta2.AgentPodPolicy {
	if members == nil {
		return nil
	}
	return &v1beta2.AgentPodPolicy{
		ServiceAccountName: members.ServiceAccountName, ImagePullSecrets: members.ImagePullSecrets,
		NodeSelector: members.NodeSelector, Tolerations: members.Tolerations, PriorityClassName: members.PriorityClassName,
	}
}

// addRestore adds the init container that restores the pod's data from the snapshot.
func (r *Reconciler) addRestore(p *pass, pod *corev1.Pod) error {
	if p.restore == nil {
		return fmt.Errorf("the EtcdRestore that names the snapshot to start from no longer exists: create another one")
	}
	from, token := p.restore.Status.Source, p.cluster.Status.Bootstrap.Token
	asked := task.Task{
		Writer: agentpod.Writer(p.restore, task.KindRestore), Timeout: restores.Timeout(&p.restore.Spec),
		Restore: &task.Restore{
			Object: from.Object, SHA256: from.SHA256, Folder: member.DataDir,
			EtcdVersion: version.OfImage(resources.ImageOf(pod)),
			Identity: task.Identity{
				Name: pod.Name, PeerURL: p.observed.Cluster.PeerURL(pod.Name), Token: token,
			},
			RevisionFloor: floorOf(p.cluster, p.restore),
		},
	}
	key := restores.ReadFrom(&asked, from)
	return resources.AddRestore(pod, r.OperatorImage, r.AgentEnv, p.restore.Name, asked, key)
}
