// Package clusterspec says which spec an EtcdCluster is reconciled to, for every controller that needs to know: an invalid one is
// refused, and the last valid one stays in force.
package clusterspec

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// Claims are the PersistentVolumeClaims with the cluster's labels.
func Claims(ctx context.Context, reader client.Reader, c *v1beta2.EtcdCluster) ([]corev1.PersistentVolumeClaim, error) {
	claims := &corev1.PersistentVolumeClaimList{}
	err := reader.List(ctx, claims, client.InNamespace(c.Namespace), client.MatchingLabels(resources.ClusterSelector(c.Name)))
	if err != nil {
		return nil, fmt.Errorf("list the PersistentVolumeClaims of EtcdCluster %s: %w", c.Name, err)
	}
	return claims.Items, nil
}

// Effective is the spec in force: the user's, or while that is invalid the last valid one, so that a mistake does not change a
// running cluster. Size, paused, hibernate, how far Auto Pilot goes, what happens once a quorum is lost, and what becomes of volumes with the cluster
// are always the user's: whoever asks to keep data must not lose it for another mistake. So is a maintenance window that can be read. A version
// is always set, and a whole one, unless it is refused. The claims are the cluster's, because volumes cannot shrink, and so are the pods, which
// matter only while there is no status.
func Effective(c *v1beta2.EtcdCluster, claims []corev1.PersistentVolumeClaim, pods ...corev1.Pod) (v1beta2.EtcdClusterSpec, *failure.Problem) {
	accepted := accepted(c)
	wanted := *c
	wanted.Spec.Version = versionOf(c, accepted, claims, pods)
	problem := validate(&wanted)
	if problem == nil {
		problem = validateVolumes(&wanted, claims)
	}
	if problem == nil || accepted == nil {
		return wanted.Spec, problem
	}
	accepted.Size, accepted.Paused, accepted.VolumeReclaimPolicy = c.Spec.Size, c.Spec.Paused, c.Spec.VolumeReclaimPolicy
	accepted.Recovery, accepted.Hibernate = c.Spec.Recovery, c.Spec.Hibernate
	if accepted.Autopilot = c.Spec.Autopilot; validateWindow(c) == nil {
		accepted.MaintenanceWindow = c.Spec.MaintenanceWindow
	}
	return *accepted, problem
}

// Noted decodes a spec in status, nil if there is none. Only the operator writes it; if it was edited to something that is not a
// spec, there is none.
func Noted(noted *runtime.RawExtension) *v1beta2.EtcdClusterSpec {
	if noted == nil {
		return nil
	}
	spec := &v1beta2.EtcdClusterSpec{}
	if err := json.Unmarshal(noted.Raw, spec); err != nil {
		return nil
	}
	return spec
}

// VolumeSize is the storage that each claim is to request, in bytes; 0 if the spec says nothing.
func VolumeSize(c *v1beta2.EtcdCluster) int64 {
	if size := resources.TunedVolume(c); size != nil {
		return size.Value()
	}
	return SpecVolumeSize(c)
}

// SpecVolumeSize is that by the spec, whatever Auto Pilot has made of it.
func SpecVolumeSize(c *v1beta2.EtcdCluster) int64 {
	if !resources.Persistent(c) {
		return 0
	}
	return requested(c.Spec.Pod.PersistentVolumeClaimSpec)
}

func requested(spec *corev1.PersistentVolumeClaimSpec) int64 {
	storage := spec.Resources.Requests[corev1.ResourceStorage]
	return storage.Value()
}

// validateVolumes refuses a spec with less storage than the members' volumes have. Kept volumes belong to no member, and one that was
// never used may be replaced: perhaps there is no storage of that size.
func validateVolumes(c *v1beta2.EtcdCluster, claims []corev1.PersistentVolumeClaim) *failure.Problem {
	wanted := VolumeSize(c)
	for i := range claims {
		claim := &claims[i]
		if claim.Annotations[resources.AnnotationMemberID] == "" {
			continue
		}
		if slices.ContainsFunc(c.Status.KeptVolumes, func(v v1beta2.KeptVolume) bool { return v.UID == string(claim.UID) }) {
			continue
		}
		if resources.VolumeOwned(c, claim) && wanted > 0 && requested(&claim.Spec) > wanted && claim.DeletionTimestamp.IsZero() {
			size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
			return &failure.Problem{
				Reason: v1beta2.ReasonVolumeShrinks,
				Message: fmt.Sprintf("spec.pod.persistentVolumeClaimSpec.resources.requests.storage: volume %s requests %s, "+
					"and volumes cannot shrink: set it to that or more", claim.Name, size.String()),
			}
		}
	}
	return nil
}
