package etcdrestore

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/clusterspec"
	"github.com/etcdpilot/etcd-operator/internal/authentication"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// specFor is the spec, as it is now, of the cluster that is to run on the snapshot.
func specFor(p *restorePass) v1beta2.EtcdClusterSpec {
	return p.cluster.Spec
}

// observeOperator finds out as whom etcd would know the operator on the snapshot, if its authentication is on there.
func (r *Reconciler) observeOperator(ctx context.Context, p *restorePass) error {
	from, phase := p.object.Status.Source, p.object.Status.Phase
	if phase != v1beta2.RestoreVerifying && phase != v1beta2.RestoreSaving || from == nil || from.Database == nil ||
		!from.Database.AuthEnabled || p.cluster == nil || !resources.SpecTransport(&p.cluster.Spec).ClientsNeedTLS() {
		return nil
	}
	p.operator = authentication.RootUser
	static, _ := p.cluster.Spec.StaticTLS()
	if static == nil {
		return nil
	}
	secret := &corev1.Secret{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: p.object.Namespace, Name: static.OperatorSecret}, secret)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Secret %s: %w", static.OperatorSecret, err)
	}
	certificate := pki.Text{Name: certificates.KeyClientCertificate, PEM: secret.Data[certificates.KeyClientCertificate]}
	p.operator = "unknown"
	if chain, err := pki.ParseCertificates(certificate); err == nil {
		p.operator = chain[0].Subject.CommonName
	}
	return nil
}

// unfit is why the cluster cannot start from the snapshot that was verified: its spec, which may have been edited since, has
// another version, or too little room.
func unfit(p *restorePass) *failure.Problem {
	from := p.object.Status.Source
	if from == nil || p.cluster == nil {
		return nil
	}
	if why := otherThanSaved(p.cluster, p.object); why != nil {
		return why
	}
	spec := specFor(p)
	if from.DataVersion != "" {
		if why, bad := failure.Of(task.CheckVersion(from.DataVersion, version.Normalize(spec.Version))); bad {
			why.Message = "the cluster's version was changed after the snapshot was verified: " + why.Message
			return &why
		}
	}
	if from.Database == nil {
		return nil
	}
	return restore.Misfit(restore.Database{
		Size: from.Database.SizeBytes, InUse: from.Database.InUseBytes, Auth: from.Database.AuthEnabled,
		Room: task.RestoreRoom(from.Database.SizeBytes),
	}, membersFor(p, spec))
}

// alarmsOf lists the alarms that etcd had when the snapshot was taken.
func alarmsOf(p *restorePass) string {
	from := p.object.Status.Source
	if from == nil || from.Database == nil {
		return ""
	}
	var names []string
	for _, alarm := range from.Database.Alarms {
		names = append(names, alarm.String())
	}
	return strings.Join(names, ", ")
}

// membersFor is what members restored from a snapshot get from the spec, and from what Auto Pilot has made of it: new volumes, however large
// somebody has made the old ones.
func membersFor(p *restorePass, spec v1beta2.EtcdClusterSpec) restore.Members {
	m := restore.Members{Of: "EtcdCluster " + p.object.Spec.EtcdCluster.Name, Operator: p.operator}
	c := &v1beta2.EtcdCluster{Spec: spec, Status: p.cluster.Status}
	if resources.Persistent(c) {
		m.Volume, m.VolumeField = clusterspec.VolumeSize(c), "spec.pod.persistentVolumeClaimSpec.resources.requests.storage"
	} else if spec.Pod != nil {
		// The kubelet evicts a pod whose emptyDirs use more.
		limit := spec.Pod.Resources.Limits[corev1.ResourceEphemeralStorage]
		m.Volume, m.VolumeField = limit.Value(), "spec.pod.resources.limits.ephemeral-storage"
	}
	options, _ := resources.Options(c, version.Normalize(spec.Version))
	m.Quota = resources.Quota(options)
	return m
}
