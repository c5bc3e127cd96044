package etcdcluster

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/clusterspec"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/status"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// readSpecs computes the revisions of the spec and of the former one. A pod may have to be made from the former one although only
// labels or resources differ: the API server may refuse those of the present one.
func (r *Reconciler) readSpecs(p *pass) (err error) {
	if p.revision, err = resources.RevisionOf(p.cluster, r.podOptions(p)); err != nil {
		return err
	}
	spec := clusterspec.Noted(p.cluster.Status.FormerSpec)
	if spec == nil { // in the first pass after an edit the former spec is the one recorded as accepted
		spec = clusterspec.Noted(p.cluster.Status.AcceptedSpec)
	}
	if spec == nil || equality.Semantic.DeepEqual(*spec, p.cluster.Spec) {
		return nil
	}
	cluster := &v1beta2.EtcdCluster{TypeMeta: p.cluster.TypeMeta, ObjectMeta: p.cluster.ObjectMeta, Spec: *spec}
	p.previousSpec = cluster
	return nil
}

// fromPreviousSpec reports whether the pod on a volume is to be made from the previous spec: the mark on the volume is its template, with the
// transport that the pod is to have. Until the members are updated, that is not the recorded one.
func (r *Reconciler) fromPreviousSpec(p *pass, claim *corev1.PersistentVolumeClaim) (bool, error) {
	mark := claim.Annotations[resources.AnnotationTemplate]
	if p.previousSpec == nil || mark == "" {
		return false, nil
	}
	options := r.podOptions(p)
	options.Transport = resources.VolumeTransport(claim)
	now, err := resources.RevisionOf(p.cluster, options)
	if err != nil {
		return false, err
	}
	before, err := resources.RevisionOf(p.previousSpec, options)
	return err == nil && before.Template != now.Template && mark == before.Template, err
}

// pinned are the images that are known by their digests: this operator's, and the one that members go back to, which only an earlier one may have
// known.
func (r *Reconciler) pinned(c *v1beta2.EtcdCluster) version.Pinned {
	if a := c.Status.Autopilot; a != nil && a.Version != nil {
		return r.Pinned.With(a.Version.Image)
	}
	return r.Pinned
}

// observedCluster is the part of an observation that comes from the EtcdCluster itself: its spec, and the record in its
// status.
func (r *Reconciler) observedCluster(c *v1beta2.EtcdCluster, problem *failure.Problem) plan.Cluster {
	return plan.Cluster{
		Record:    status.RecordOf(&c.Status),
		Namespace: c.Namespace, Name: c.Name, UID: string(c.UID), Domain: resources.Domain(c), SpecTransport: resources.SpecTransport(&c.Spec),
		Size: int(c.Spec.Size), Paused: c.Spec.Paused, Deleting: !c.DeletionTimestamp.IsZero(), Hibernate: c.Spec.Hibernate,
		QuorumLostSince: status.TimeIn(c.Status.QuorumLostSince),
		Persistent:      resources.Persistent(c), VolumeSize: clusterspec.VolumeSize(c), SpecVolumeSize: clusterspec.SpecVolumeSize(c),
		Repository: cmp.Or(c.Spec.Repository, r.EtcdRepository), Version: version.Normalize(c.Spec.Version), Invalid: problem,
		Pinned:        r.pinned(c),
		SpecResources: resources.SpecResources(c),
		SpecQuota:     resources.SpecQuota(c, version.Normalize(c.Spec.Version)),
		Spec:          status.SpecText(c),
		Resuming:      resuming(&c.Status),
	}
}
