package etcdrestore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/clusterspec"
	"github.com/etcdpilot/etcd-operator/controllers/internal/restores"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// restoreFinalizer keeps an EtcdRestore until its cluster's data has been replaced.
const restoreFinalizer = "etcd.database.coreos.com/replacing"

// observe reads everything a decision may depend on.
func (r *Reconciler) observe(ctx context.Context, reader client.Reader, o *v1beta2.EtcdRestore) (
	*restorePass, error,
) {
	s := &o.Status
	p := &restorePass{object: o, before: s.DeepCopy(), source: s.Source}
	p.observed = restore.Observed{
		Now: r.Clock.Now(), Created: o.CreationTimestamp.Time, Phase: s.Phase,
		AnsweredBefore: s.Phase == "" && (s.Succeeded || s.Reason != ""),
		Deleting:       !o.DeletionTimestamp.IsZero(), HasFinalizer: controllerutil.ContainsFinalizer(o, restoreFinalizer),
		Skip:     o.Spec.SafetySnapshot == v1beta2.SafetySnapshotSkip,
		Timeout:  restores.Timeout(&o.Spec),
		Verified: s.Snapshot != nil, Saved: s.SafetySnapshot != nil, UnsavedAsleep: s.Unsaved == plan.UnsavedAsleep,
		Run: runOf(s), OfMember: o.Spec.Member != nil,
	}
	if s.SaveTime != nil {
		p.observed.SavedAt = s.SaveTime.Time
	}
	p.observed.Stale = s.SafetySnapshot != nil && s.SafetySnapshot.Stale
	if err := observeRestored(ctx, reader, p); err != nil {
		return nil, err
	}
	if err := r.observeOperator(ctx, p); err != nil {
		return nil, err
	}
	p.observed.Unfit, p.observed.Of, p.observed.Alarms = unfit(p), otherOf(p), alarmsOf(p)
	p.observed.Invalid = agentpod.Reserved(o.Spec.Pod)
	if err := observeSource(ctx, reader, p); err != nil {
		return nil, err
	}
	if err := observeNewer(ctx, reader, p); err != nil {
		return nil, err
	}
	if err := observeMemberRestore(ctx, reader, p); err != nil {
		return nil, err
	}
	return p, observeRestorePods(ctx, reader, p)
}

func runOf(s *v1beta2.EtcdRestoreStatus) *restore.Run {
	if s.Run == nil {
		return nil
	}
	run := &restore.Run{
		Attempt: int(s.Run.Attempt), Started: s.Run.AttemptStartTime.Time, Failure: s.Reason, Unanswered: int(s.Run.Unanswered),
	}
	if s.Run.RetryTime != nil {
		run.RetryAfter = s.Run.RetryTime.Time
	}
	return run
}

// observeRestored reads the cluster whose data is to be replaced.
func observeRestored(ctx context.Context, reader client.Reader, p *restorePass) error {
	name := p.object.Spec.EtcdCluster.Name
	seen := &p.observed.Cluster
	seen.Name, seen.Pinned = name, p.object.Status.ClusterUID != ""
	c := &v1beta2.EtcdCluster{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: p.object.Namespace, Name: name}, c)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read EtcdCluster %s: %w", name, err)
	}
	claims, err := clusterspec.Claims(ctx, reader, c)
	if err != nil {
		return err
	}
	c.Spec, _ = clusterspec.Effective(c, claims)
	p.cluster = c
	seen.Exists, seen.Deleting, seen.Paused = true, !c.DeletionTimestamp.IsZero(), c.Spec.Paused
	seen.Other = seen.Pinned && p.object.Status.ClusterUID != string(c.UID)
	seen.Moved = !restores.Looked(&c.Status, &p.object.Status)
	seen.Asleep = c.Status.Hibernation == string(plan.Hibernated)
	pods, err := permitted(ctx, reader, c)
	if err != nil {
		return err
	}
	observeHeld(p, pods, claims)
	seen.Answers = len(c.Status.Members.Ready) > 0 ||
		meta.IsStatusConditionTrue(c.Status.Conditions, v1beta2.ConditionAvailable)
	if doing := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionProgressing); doing != nil {
		seen.Doing = doing.Message
		seen.Again = doing.Reason == v1beta2.ReasonSaving
		seen.Stranded = doing.Reason == v1beta2.ReasonRestoreFailed && doing.Status == metav1.ConditionFalse
	}
	p.observed.Void = voidOf(c, p.object)
	if m := p.object.Spec.Member; m != nil {
		p.asked = []string{member.ClientURL(member.Host(m.Name, c.Name, c.Namespace, resources.Domain(c)), resources.Transport(c))}
	}
	seen.Record = recordOf(&c.Status, string(p.object.UID))
	p.observed.Outdated = p.observed.Saved && seen.Held && !savedFrom(p.object.Status.SafetySnapshot, c)
	observeVolatile(p, pods)
	return observeUnsaved(ctx, reader, p)
}

// savedFrom reports whether the safety snapshot is of the cluster's present data: another restore may have completed after the
// snapshot was started.
func savedFrom(saved *v1beta2.SnapshotStatus, c *v1beta2.EtcdCluster) bool {
	return saved.ClusterID == "" || c.Status.ClusterID == "" || task.SameCluster(saved.ClusterID, c.Status.ClusterID)
}

// otherOf names the cluster that the snapshot is of if it is another one; empty if not. The name alone does not decide, because a
// recreated cluster has the same one. An etcd cluster that was not an EtcdCluster has only an ID, which a cluster that was restored
// or recreated does not share.
func otherOf(p *restorePass) string {
	chosen := p.object.Status.Snapshot
	if chosen == nil || chosen.Cluster == "" {
		return ""
	}
	own := chosen.Cluster == p.object.Namespace+"/"+p.object.Spec.EtcdCluster.Name
	id := chosen.ClusterID
	switch {
	case strings.Contains(chosen.Cluster, "/") && !own:
		return "EtcdCluster " + chosen.Cluster
	case !own:
		id = chosen.Cluster
	}
	if id == "" || p.cluster == nil || p.cluster.Status.ClusterID == "" || task.SameCluster(p.cluster.Status.ClusterID, id) {
		return ""
	}
	known := func(ancestor string) bool { return task.SameCluster(ancestor, id) }
	switch {
	case !own:
		return "the etcd cluster " + id
	case slices.ContainsFunc(agentpod.Ancestors(p.cluster), known):
		return ""
	}
	return "EtcdCluster " + chosen.Cluster + " under another cluster ID, " + id + ","
}

// observeRestorePods reads the pods. The result of one that has succeeded must have a snapshot.
func observeRestorePods(ctx context.Context, reader client.Reader, p *restorePass) (err error) {
	p.Pods, err = agentpod.Observe(ctx, reader, p.object, resources.LabelRestore, p.object.Status.Run)
	p.observed.Pod, p.observed.OrphanedPods = p.Seen, p.Orphaned
	if p.Result != nil && p.Result.Failure == nil && p.Result.Snapshot == nil {
		p.Seen.Result.Failure = &failure.Problem{
			Reason: v1beta2.ReasonAgentLost, Message: "the pod reported success without a snapshot",
		}
	}
	return err
}
