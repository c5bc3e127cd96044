package controllers

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/status"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// effective is the spec to go by: the user's, or while that cannot work the last one that could, so that a mistake changes
// nothing of a running cluster. Size and pause are always the user's.
func effective(c *v1beta2.EtcdCluster, claims []corev1.PersistentVolumeClaim) (v1beta2.EtcdClusterSpec, *plan.Problem) {
	problem := validate(c)
	if problem == nil {
		problem = validateVolumes(c, claims)
	}
	if problem == nil || c.Status.AcceptedSpec == nil {
		return c.Spec, problem
	}
	spec := v1beta2.EtcdClusterSpec{}
	if err := json.Unmarshal(c.Status.AcceptedSpec.Raw, &spec); err != nil {
		return c.Spec, problem // nobody but the operator writes it; whoever did otherwise gets the spec as it is
	}
	spec.Size, spec.Paused = c.Spec.Size, c.Spec.Paused
	return spec, problem
}

// readSpecs works out what tells the pods of the spec from those of the former one.
func (r *EtcdClusterReconciler) readSpecs(p *pass) (err error) {
	if p.revision, err = resources.RevisionOf(p.cluster, r.podOptions()); err != nil {
		return err
	}
	cluster := former(p.cluster)
	if cluster == p.cluster {
		return nil
	}
	before, err := resources.RevisionOf(cluster, r.podOptions())
	if err != nil {
		return err
	}
	if before.Template != p.revision.Template {
		p.former, p.formerTemplate = cluster, before.Template
	}
	return nil
}

// former is the cluster with the spec that the members are made from which an update has not reached; that is the current
// one if there is none under way.
func former(c *v1beta2.EtcdCluster) *v1beta2.EtcdCluster {
	if c.Status.FormerSpec == nil {
		return c
	}
	spec := v1beta2.EtcdClusterSpec{}
	if err := json.Unmarshal(c.Status.FormerSpec.Raw, &spec); err != nil {
		return c
	}
	return &v1beta2.EtcdCluster{TypeMeta: c.TypeMeta, ObjectMeta: c.ObjectMeta, Spec: spec}
}

// desired is the part of an observation that the EtcdCluster itself holds.
func desired(c *v1beta2.EtcdCluster, problem *plan.Problem) plan.Cluster {
	var moved time.Time
	if m := c.Status.LeaderMoved; m != nil {
		moved = m.Time.Time
	}
	return plan.Cluster{
		Namespace: c.Namespace, Name: c.Name, UID: string(c.UID), Domain: resources.Domain(c),
		Size: int(c.Spec.Size), Paused: c.Spec.Paused, Deleting: !c.DeletionTimestamp.IsZero(),
		Persistent: resources.Persistent(c), VolumeSize: volumeSize(c),
		Repository: c.Spec.Repository, Version: version.Normalize(c.Spec.Version), Invalid: problem,
		SnapshotDue: c.Status.SnapshotDue,
		ID:          parseID(c.Status.ClusterID), Bootstrap: bootstrapOf(c.Status.Bootstrap),
		Revision: c.Status.Revision, Voters: status.Voters(&c.Status), LeaderMoved: moved,
	}
}

// volumeSize is the storage that each claim is to ask for, in bytes; 0 if nothing is said.
func volumeSize(c *v1beta2.EtcdCluster) int64 {
	if !resources.Persistent(c) {
		return 0
	}
	return requested(c.Spec.Pod.PersistentVolumeClaimSpec)
}

func requested(spec *corev1.PersistentVolumeClaimSpec) int64 {
	storage := spec.Resources.Requests[corev1.ResourceStorage]
	return storage.Value()
}
