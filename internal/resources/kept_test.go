package resources

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestObjectsAreKept has an API server take each kind of object that the operator makes of Kubernetes' own, in a namespace that holds pods to the
// "restricted" Pod Security Standard: it knows every field, and drops none. The oldest Kubernetes that is supported has to, as well as the newest.
func TestObjectsAreKept(t *testing.T) {
	c := testenv.Client(t, testenv.Start(t))
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "ns", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	for name, object := range writtenObjects(t) {
		object.SetName(name) // one of each, side by side
		t.Run(name, func(t *testing.T) { testenv.Applied(t, c, testenv.Unstructured(t, object)) })
	}
}

// writtenObjects are one of each kind, and of pods one of each way to make them.
func writtenObjects(t *testing.T) map[string]client.Object {
	t.Helper()
	plain := cluster(func(*v1beta2.EtcdCluster) {})
	stored := cluster(func(c *v1beta2.EtcdCluster) {
		c.Spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}
	})
	objects := map[string]client.Object{
		"member": build(t, plain, nil, options), "member-tls": build(t, plain, nil, secured("c-trust")), "member-restores": restorePod(t),
		"member-stored": build(t, stored, nil, PodOptions{OperatorImage: "operator:1", EtcdVersion: "3.6.16", Persistent: true}),
		"pull":          PullPod(plain, "node", "etcd:1", options),
		"volume":        Volume(stored, "c-0", 1), "recovery-volume": RecoveryVolume(stored, "c-0"),
		"peer-service": PeerService(plain), "client-service": ClientService(plain), "budget": Budget(plain, 2),
		"secret":        MemberSecret(plain, "c-0", map[string][]byte{"ca.crt": []byte("authority")}),
		"policy-peers":  NetworkPolicy(plain, v1beta2.NetworkPolicyPeers, operatorPods),
		"policy-strict": NetworkPolicy(plain, v1beta2.NetworkPolicyStrict, operatorPods),
	}
	for name, change := range agentPods {
		pod := mustPod(t, agentPod(change))
		pod.Spec.PriorityClassName = "" // classes must exist
		objects[name] = pod
	}
	return objects
}
