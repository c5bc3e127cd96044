package controllers

import (
	"cmp"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

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
	if problem == nil {
		return c.Spec, nil
	}
	accepted := specOf(c.Status.AcceptedSpec)
	if accepted == nil {
		return c.Spec, problem
	}
	accepted.Size, accepted.Paused = c.Spec.Size, c.Spec.Paused
	return *accepted, problem
}

// specOf reads a spec that status holds, nil if it holds none. Nobody but the operator writes it; whoever did otherwise gets
// the spec as it is.
func specOf(noted *runtime.RawExtension) *v1beta2.EtcdClusterSpec {
	if noted == nil {
		return nil
	}
	spec := &v1beta2.EtcdClusterSpec{}
	if err := json.Unmarshal(noted.Raw, spec); err != nil {
		return nil
	}
	return spec
}

// readSpecs works out what tells the pods of the spec from those of the former one.
func (r *EtcdClusterReconciler) readSpecs(p *pass) (err error) {
	if p.revision, err = resources.RevisionOf(p.cluster, r.podOptions()); err != nil {
		return err
	}
	spec := specOf(p.cluster.Status.FormerSpec)
	if spec == nil { // in the first pass after an edit the former spec is the one that is noted as accepted
		spec = specOf(p.cluster.Status.AcceptedSpec)
	}
	if spec == nil {
		return nil
	}
	cluster := &v1beta2.EtcdCluster{TypeMeta: p.cluster.TypeMeta, ObjectMeta: p.cluster.ObjectMeta, Spec: *spec}
	before, err := resources.RevisionOf(cluster, r.podOptions())
	if err != nil {
		return err
	}
	if before.Template != p.revision.Template {
		p.former, p.formerTemplate = cluster, before.Template
	}
	return nil
}

// desired is the part of an observation that the EtcdCluster itself holds.
func (r *EtcdClusterReconciler) desired(c *v1beta2.EtcdCluster, problem *plan.Problem) plan.Cluster {
	var moved time.Time
	if m := c.Status.LeaderMoved; m != nil {
		moved = m.Time.Time
	}
	cluster := plan.Cluster{
		Namespace: c.Namespace, Name: c.Name, UID: string(c.UID), Domain: resources.Domain(c),
		Size: int(c.Spec.Size), Paused: c.Spec.Paused, Deleting: !c.DeletionTimestamp.IsZero(),
		Persistent: resources.Persistent(c), VolumeSize: volumeSize(c),
		Repository: cmp.Or(c.Spec.Repository, r.EtcdRepository), Version: version.Normalize(c.Spec.Version), Invalid: problem,
		SnapshotDue: c.Status.SnapshotDue,
		ID:          parseID(c.Status.ClusterID), Bootstrap: bootstrapOf(c.Status.Bootstrap),
		Revision: c.Status.Revision, Voters: status.Voters(&c.Status), NextVoters: c.Status.NextVoters,
		LeaderMoved: moved, RanBefore: ranBefore(&c.Status),
	}
	observeFormer(&cluster, &c.Status)
	return cluster
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
