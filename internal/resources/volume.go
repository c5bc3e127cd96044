package resources

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Volume is the claim of one member, named as its pod.
func Volume(c *v1beta2.EtcdCluster, name string, incarnation int) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: c.Namespace,
			Labels:          memberLabels(c.Name, name, incarnation),
			Annotations:     map[string]string{AnnotationClusterUID: string(c.UID)},
			OwnerReferences: VolumeOwners(c),
		},
		Spec: *c.Spec.Pod.PersistentVolumeClaimSpec.DeepCopy(),
	}
	if size := TunedVolume(c); size != nil {
		claim.Spec.Resources.Requests[corev1.ResourceStorage] = *size
	}
	if meta := volumeMetadata(c); len(meta.Labels)+len(meta.Annotations) > 0 {
		claim.Labels = merge(meta.Labels, claim.Labels)
		claim.Annotations = merge(meta.Annotations, claim.Annotations, map[string]string{AnnotationMetadata: encode(meta)})
	}
	if len(claim.Spec.AccessModes) == 0 {
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	claim.Annotations[AnnotationVolume] = encode(claim.Spec)
	if t := Transport(c).Served(); !t.IsZero() {
		claim.Annotations[AnnotationTransport] = encode(t)
	}
	return claim
}

// RecoveryVolume is a claim like the members', for the snapshot of a surviving member. It has no label of the cluster's: it is no member's.
func RecoveryVolume(c *v1beta2.EtcdCluster, name string) *corev1.PersistentVolumeClaim {
	claim := Volume(c, name, 0)
	claim.Labels, claim.Annotations = volumeMetadata(c).Labels, map[string]string{AnnotationClusterUID: string(c.UID)}
	return claim
}

// volumeMetadata is what the spec adds to every claim.
func volumeMetadata(c *v1beta2.EtcdCluster) metadata {
	return metadata{
		Labels:      without(podPolicy(c).VolumeLabels, memberLabels(c.Name, "", 0)),
		Annotations: podPolicy(c).VolumeAnnotations,
	}
}

// VolumeMetadataPatch is the change of a claim's metadata to what the spec asks for, nil if there is none.
func VolumeMetadataPatch(c *v1beta2.EtcdCluster, claim *corev1.PersistentVolumeClaim) map[string]any {
	want, old := volumeMetadata(c), claim.Annotations[AnnotationMetadata]
	if cmp.Or(old, "{}") == encode(want) && contains(claim.Labels, want.Labels) &&
		contains(claim.Annotations, want.Annotations) {
		return nil
	}
	return metadataPatch(claim.Annotations, want)
}

// ForeignVolume says why a claim with the cluster's labels was neither created by the operator for a cluster of this name, nor
// adopted; empty if it was. A copy that a user makes of a claim has another name, or another UID.
func ForeignVolume(c *v1beta2.EtcdCluster, claim *corev1.PersistentVolumeClaim) string {
	n, numbered := strings.CutPrefix(claim.Name, c.Name+"-")
	if _, err := strconv.ParseUint(n, 10, 31); err != nil {
		numbered = false
	}
	owner, marked := metav1.GetControllerOf(claim), claim.Annotations[AnnotationVolumeUID]
	switch {
	case owner != nil && owner.UID != c.UID:
		return "it belongs to " + owner.Kind + " " + owner.Name
	case claim.Annotations[AnnotationClusterUID] == "":
		return "it was not created for a cluster (it has no annotation " + AnnotationClusterUID + ")"
	case !numbered || claim.Labels[LabelNode] != claim.Name:
		return "its name, or its label " + LabelNode + ", is not that of a member"
	case marked != "" && marked != string(claim.UID):
		return "it is a copy (for the cluster to use it, remove its annotation " + AnnotationVolumeUID + ")"
	}
	return ""
}

// VolumeOwned reports whether a claim is provably this very cluster's. One that is to outlive the cluster has no owner reference.
func VolumeOwned(c *v1beta2.EtcdCluster, claim *corev1.PersistentVolumeClaim) bool {
	return claim.Annotations[AnnotationClusterUID] == string(c.UID) && ForeignVolume(c, claim) == ""
}

// VolumeOwners are the owner references of a cluster's volumes: none where they are to outlive the cluster.
func VolumeOwners(c *v1beta2.EtcdCluster) []metav1.OwnerReference {
	if c.Spec.VolumeReclaimPolicy == v1beta2.VolumeReclaimRetain {
		return nil
	}
	return []metav1.OwnerReference{Owner(c)}
}

// PodPersistent reports whether a pod keeps its data on the claim of its name.
func PodPersistent(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Name == dataVolume && v.PersistentVolumeClaim != nil
	})
}

// VolumeDrift reports whether the spec asks for another kind of volume than this claim's. Fields that the spec does not set are
// ignored: a default class may have been filled in. A claim that an admission webhook has changed is as it was asked for: another one
// would be changed again.
func VolumeDrift(c *v1beta2.EtcdCluster, claim *corev1.PersistentVolumeClaim) bool {
	want := podPolicy(c).PersistentVolumeClaimSpec
	if want == nil {
		return false
	}
	differs := func(have corev1.PersistentVolumeClaimSpec) bool {
		return want.StorageClassName != nil && !equality.Semantic.DeepEqual(want.StorageClassName, have.StorageClassName) ||
			len(want.AccessModes) > 0 && !slices.Equal(want.AccessModes, have.AccessModes) ||
			want.VolumeMode != nil && !equality.Semantic.DeepEqual(want.VolumeMode, have.VolumeMode) ||
			want.Selector != nil && !equality.Semantic.DeepEqual(want.Selector, have.Selector)
	}
	return differs(claim.Spec) && differs(askedVolume(claim)) // as it was asked for is decoded where that matters alone
}

// TunedVolume is what Auto Pilot has each claim request instead of what the spec says, nil if it has not: it counts until the spec has
// another size than it was raised from.
func TunedVolume(c *v1beta2.EtcdCluster) *resource.Quantity {
	a, spec := c.Status.Autopilot, podPolicy(c).PersistentVolumeClaimSpec
	if a == nil || a.Volume == nil || spec == nil {
		return nil
	}
	if asked := spec.Resources.Requests[corev1.ResourceStorage]; asked.Value() != a.Volume.InsteadOf.Value() { // 2.2Gi is no whole number of bytes
		return nil
	}
	return &a.Volume.Size
}

// VolumeSize is the storage that a claim requests: the amount that was asked for if that is the wanted one, even where an admission
// webhook has changed it.
func VolumeSize(claim *corev1.PersistentVolumeClaim, wanted resource.Quantity) resource.Quantity {
	have := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if have.Cmp(wanted) == 0 {
		return have
	}
	if asked := askedVolume(claim).Resources.Requests[corev1.ResourceStorage]; asked.Cmp(wanted) == 0 {
		return asked
	}
	return have
}

// askedVolume is the spec that the operator has asked for, the claim's own if that is not known.
func askedVolume(claim *corev1.PersistentVolumeClaim) corev1.PersistentVolumeClaimSpec {
	var asked corev1.PersistentVolumeClaimSpec
	if text := claim.Annotations[AnnotationVolume]; text == "" || json.Unmarshal([]byte(text), &asked) != nil {
		return claim.Spec
	}
	return asked
}
