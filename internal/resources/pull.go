package resources

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// PullSelector selects the pods that fetch images for a cluster.
func PullSelector(cluster string) map[string]string { return map[string]string{LabelPull: cluster} }

// PullPod fetches an image to a node and ends: it asks etcd for its version. It has neither the cluster's labels nor those of
// spec.pod.labels, so that no Service, PodDisruptionBudget or spreading counts it. Where a policy requires labels of every pod it is
// refused, and the update goes on without it.
func PullPod(c *v1beta2.EtcdCluster, node, image string, o PodOptions) *corev1.Pod {
	policy := podPolicy(c)
	no, grace := false, int64(0)
	// Little to ask for, and no more allowed: a LimitRange may set how far a limit may exceed the request. That it takes seconds to
	// end with that holds nothing up: the image is there once the container starts.
	little := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	name := c.Name + "-pull-" + strings.ToLower(hash([]string{node, image}))
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: c.Namespace,
			Labels: merge(PullSelector(c.Name), map[string]string{
				LabelApp:                       AppValue,
				"app.kubernetes.io/managed-by": FieldOwner, "app.kubernetes.io/component": "image-pull",
			}),
			Annotations:     map[string]string{AnnotationImage: image},
			OwnerReferences: []metav1.OwnerReference{Owner(c)},
		},
		Spec: corev1.PodSpec{
			NodeName:                      node,
			RestartPolicy:                 corev1.RestartPolicyNever,
			AutomountServiceAccountToken:  &no,
			EnableServiceLinks:            &no,
			TerminationGracePeriodSeconds: &grace,
			SecurityContext:               securityContext(policy, o),
			ServiceAccountName:            policy.ServiceAccountName,
			ImagePullSecrets:              policy.ImagePullSecrets,
			Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name: EtcdContainer, Image: image, ImagePullPolicy: corev1.PullIfNotPresent,
				Command:         []string{"etcd", "--version"},
				Resources:       corev1.ResourceRequirements{Requests: little, Limits: little},
				SecurityContext: containerSecurity(),
			}},
		},
	}
}
