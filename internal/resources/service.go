package resources

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// PeerService is the headless Service behind the members' DNS names. It publishes addresses that are not ready: members
// must find each other before any of them can be ready.
func PeerService(c *v1beta2.EtcdCluster) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: objectMeta(c, PeerServiceName(c.Name)),
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			PublishNotReadyAddresses: true,
			Selector:                 ClusterSelector(c.Name),
			Ports:                    []corev1.ServicePort{port("client", member.ClientPort), port("peer", member.PeerPort)},
		},
	}
}

// ClientService is the Service for clients. Only voters carry the label that it selects.
func ClientService(c *v1beta2.EtcdCluster) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: objectMeta(c, ClientServiceName(c.Name)),
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: ServingSelector(c.Name),
			Ports:    []corev1.ServicePort{port("client", member.ClientPort)},
		},
	}
}

func port(name string, number int32) corev1.ServicePort {
	return corev1.ServicePort{
		Name: name, Port: number, TargetPort: intstr.FromInt32(number), Protocol: corev1.ProtocolTCP,
	}
}

// Budget is the PodDisruptionBudget over the voters. An integer minAvailable is the only form that Kubernetes counts
// for pods whose owner it does not know.
func Budget(c *v1beta2.EtcdCluster, minAvailable int) *policyv1.PodDisruptionBudget {
	value := intstr.FromInt32(int32(minAvailable)) //nolint:gosec // a number of members: 1 to 9
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: objectMeta(c, BudgetName(c.Name)),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &value,
			Selector:     &metav1.LabelSelector{MatchLabels: ServingSelector(c.Name)},
		},
	}
}
