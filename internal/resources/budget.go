package resources

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Budget is the PodDisruptionBudget of the voters. An integer minAvailable is the only form that Kubernetes supports for pods of an
// unknown kind of owner.
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
