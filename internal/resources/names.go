package resources

import (
	"cmp"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// Labels of every object of a cluster. The first three are those of coreos/etcd-operator.
const (
	LabelApp     = "app"
	LabelCluster = "etcd_cluster"
	LabelNode    = "etcd_node"
	// LabelServing is on the pods that the client Service selects: started voters.
	LabelServing = "etcd.database.coreos.com/serving"
	// LabelIncarnation is the bootstrap attempt that the object was made for.
	LabelIncarnation = "etcd.database.coreos.com/incarnation"
	// LabelPull is on the image pull pods; its value is the cluster's name.
	LabelPull = "etcd.database.coreos.com/pull"
)

// AppValue is the value of LabelApp on everything that belongs to an etcd cluster.
const AppValue = "etcd"

// Annotations of volumes and pods.
const (
	// AnnotationClusterUID is the UID of the EtcdCluster that a volume was made for or adopted by.
	AnnotationClusterUID = "etcd.database.coreos.com/cluster-uid"
	// AnnotationVolumeUID is the claim's own UID, written with the first permit: a copy of the claim has another one.
	AnnotationVolumeUID = "etcd.database.coreos.com/volume-uid"
	// AnnotationClusterID and AnnotationMemberID identify the member whose data a volume holds, in hexadecimal; written before
	// the first permit.
	AnnotationClusterID = "etcd.database.coreos.com/cluster-id"
	AnnotationMemberID  = "etcd.database.coreos.com/member-id"
	// AnnotationQuarantined is on a volume of a member whose data differs from what a majority of the voters agrees on, with the value "true".
	AnnotationQuarantined = "etcd.database.coreos.com/quarantined"
	// AnnotationVersion is the etcd version that the member on a volume is to run. AnnotationTemplate is there too: the
	// revision that its pod is to be made from.
	AnnotationVersion = "etcd.database.coreos.com/etcd-version"
	// AnnotationMetadata, AnnotationResources and AnnotationTemplate are the revision that a pod was made from. Services
	// and volumes have them where they apply.
	AnnotationMetadata  = "etcd.database.coreos.com/metadata"
	AnnotationResources = "etcd.database.coreos.com/resources-hash"
	AnnotationTemplate  = "etcd.database.coreos.com/template-hash"
	// AnnotationAvoids is the node that a pod must not be on, because it is to take the place of a member there.
	AnnotationAvoids = "etcd.database.coreos.com/avoids"
	// AnnotationPermitted is when a pod got its first permit.
	AnnotationPermitted = "etcd.database.coreos.com/permitted"
	// AnnotationReminded is when a pod's kubelet was last told that the pod has a permit.
	AnnotationReminded = "etcd.database.coreos.com/reminded"
	// AnnotationRefreshed is when a pod's kubelet was last to look at the member's certificates, and on the Secret for applications when
	// that last changed.
	AnnotationRefreshed = "etcd.database.coreos.com/certificates-refreshed"
	// AnnotationTransport is which connections of the member on a volume use TLS, and which ports, as JSON; absent if none do and ports are
	// as they were from the start.
	AnnotationTransport = "etcd.database.coreos.com/transport"
	// AnnotationRestore names the EtcdRestore whose snapshot a pod restores its data from.
	AnnotationRestore = "etcd.database.coreos.com/restore"
	// AnnotationUnserved is when LabelServing was removed from a pod that is about to stop.
	AnnotationUnserved = "etcd.database.coreos.com/unserved"
	// AnnotationImage is the image that the operator has asked for: an admission webhook may have put another one in its place.
	AnnotationImage = "etcd.database.coreos.com/image"
	// AnnotationVolume is the spec of the claim that the operator has asked for, as JSON: an admission webhook may have changed it.
	AnnotationVolume = "etcd.database.coreos.com/volume-spec"
	// AnnotationReplaced is the ID of the container that a change of the image is to replace.
	AnnotationReplaced = "etcd.database.coreos.com/replaced-container"
	// AnnotationReplacedImage is the image in the pod's spec that the kubelet has made that container from.
	AnnotationReplacedImage = "etcd.database.coreos.com/replaced-image"
	// AnnotationFixed is on objects that Kubernetes has refused to resize: on a pod it is the refused resources, on a volume the
	// size.
	AnnotationFixed = "etcd.database.coreos.com/resize-refused"
)

// FieldOwner is the field manager of everything that the operator writes.
const FieldOwner = "etcd-operator"

// PeerServiceName is the name of the headless Service that gives every member its DNS name.
func PeerServiceName(cluster string) string { return cluster }

// ClientServiceName is the name of the Service for clients.
func ClientServiceName(cluster string) string { return member.ClientService(cluster) }

// BudgetName is the name of the PodDisruptionBudget.
func BudgetName(cluster string) string { return cluster }

// ClientURL is where clients reach the cluster.
func ClientURL(c *v1beta2.EtcdCluster) string {
	return fmt.Sprintf("%s://%s.%s.svc%s:%d", Transport(c).ClientScheme(), ClientServiceName(c.Name), c.Namespace, Domain(c), ClientServicePort(c))
}

// Domain is what is appended to DNS names, for example ".cluster.local"; usually empty.
func Domain(c *v1beta2.EtcdCluster) string {
	if c.Spec.Pod == nil {
		return ""
	}
	return cmp.Or(c.Spec.Pod.ClusterDomain, c.Spec.Pod.LegacyClusterDomain)
}

// ClusterSelector selects every pod and volume of a cluster.
func ClusterSelector(cluster string) map[string]string {
	return map[string]string{LabelApp: AppValue, LabelCluster: cluster}
}

// ServingSelector selects the pods that serve clients.
func ServingSelector(cluster string) map[string]string {
	return merge(ClusterSelector(cluster), map[string]string{LabelServing: "true"})
}

func clusterLabels(cluster string) map[string]string {
	return merge(ClusterSelector(cluster), map[string]string{
		"app.kubernetes.io/name":       "etcd",
		"app.kubernetes.io/instance":   cluster,
		"app.kubernetes.io/managed-by": FieldOwner,
	})
}

func memberLabels(cluster, member string, incarnation int) map[string]string {
	return merge(clusterLabels(cluster), map[string]string{
		LabelNode:                     member,
		LabelIncarnation:              fmt.Sprint(incarnation),
		"app.kubernetes.io/component": "member",
	})
}

func merge(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

// Owner is the controller reference of an EtcdCluster.
func Owner(c *v1beta2.EtcdCluster) metav1.OwnerReference {
	return *metav1.NewControllerRef(c, v1beta2.GroupVersion.WithKind("EtcdCluster"))
}

func objectMeta(c *v1beta2.EtcdCluster, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: c.Namespace, Labels: clusterLabels(c.Name),
		OwnerReferences: []metav1.OwnerReference{Owner(c)},
	}
}

// without are the entries of a map whose keys the other one lacks.
func without(given, other map[string]string) map[string]string {
	out := merge(given)
	for key := range other {
		delete(out, key)
	}
	return out
}
