package etcdrestore

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/restores"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// recordOf finds the record that the EtcdCluster's controller keeps of a restore. The newest record is first: an incomplete one
// behind one that was not canceled never completes.
func recordOf(s *v1beta2.EtcdClusterStatus, uid string) *restore.Record {
	i := slices.IndexFunc(s.Restores, func(r v1beta2.RestoreRecord) bool { return r.UID == uid })
	if i < 0 {
		return nil
	}
	noted := &s.Restores[i]
	record := &restore.Record{
		Completed: noted.CompletionTime != nil,
		Superseded: s.Former == nil && slices.ContainsFunc(s.Restores[:i], func(r v1beta2.RestoreRecord) bool {
			return r.CalledOff == nil
		}),
		ClusterIDRecorded: s.ClusterID != "" && s.Bootstrap != nil && s.Bootstrap.Restore == uid,
		CancelDeclined:    noted.NotCalledOff, Unsaved: noted.Unsaved != "",
	}
	if off := noted.CalledOff; off != nil {
		record.Canceled = &failure.Problem{Reason: off.Reason, Message: off.Message}
	}
	for _, v := range s.KeptVolumes {
		if v.Restore == noted.Name {
			record.Kept = append(record.Kept, v.Name)
		}
	}
	return record
}

// observeUnsaved finds out whether the restore in progress, which this one is to supersede, has saved the cluster's data: once
// the members have stopped it can no longer be saved.
func observeUnsaved(ctx context.Context, reader client.Reader, p *restorePass) error {
	s := &p.cluster.Status
	before := status.UnderWay(s)
	if before == nil || before.UID == string(p.object.UID) || s.Former == nil || s.Former.ClusterID == "" {
		return nil
	}
	o := &v1beta2.EtcdRestore{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: p.object.Namespace, Name: before.Name}, o)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read EtcdRestore %s: %w", before.Name, err)
	}
	if string(o.UID) != before.UID || o.Status.SafetySnapshot == nil {
		p.observed.Cluster.Unsaved = "EtcdRestore " + before.Name + ", which this one supersedes, has not saved it"
	}
	return nil
}

// observeNewer looks for a later restore of the cluster that has come as far as this one. It does not matter before the snapshot
// was verified, or once the cluster has started with this one.
func observeNewer(ctx context.Context, reader client.Reader, p *restorePass) error {
	if !p.observed.Verified || p.observed.Cluster.Record != nil || p.object.Status.CompletionTime != nil {
		return nil
	}
	list := &v1beta2.EtcdRestoreList{}
	if err := reader.List(ctx, list, client.InNamespace(p.object.Namespace)); err != nil {
		return fmt.Errorf("list EtcdRestores: %w", err)
	}
	for i := range list.Items {
		if other := &list.Items[i]; other.Spec.EtcdCluster == p.object.Spec.EtcdCluster && givesWayTo(p.object, other) {
			p.observed.Newer = other.Name
		}
	}
	return nil
}

// givesWayTo reports whether a restore gives way to another one: a later one that is past Verifying, and in Replacing if this one
// is. One that has succeeded must have been created in a later second: within the same one their order is unknown.
func givesWayTo(o, other *v1beta2.EtcdRestore) bool {
	if other.UID == o.UID || !other.DeletionTimestamp.IsZero() && other.Status.Phase != v1beta2.RestoreSucceeded {
		return false
	}
	switch other.Status.Phase {
	case v1beta2.RestoreSaving:
		return o.Status.Phase != v1beta2.RestoreReplacing && restores.Later(other, o)
	case v1beta2.RestoreReplacing:
		return restores.Later(other, o)
	case v1beta2.RestoreSucceeded:
		return other.CreationTimestamp.After(o.CreationTimestamp.Time)
	default:
		return false
	}
}
