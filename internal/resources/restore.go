package resources

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// AddRestore has a member's pod build its data from a snapshot before etcd starts. The pod has the credentials of the storage as
// long as it lives; it is recreated without them once the cluster is up.
func AddRestore(pod *corev1.Pod, image string, env []corev1.EnvVar, restore string, t task.Task, keySecret string) error {
	container, volumes, err := restoreContainer(image, env, t, keySecret)
	if err != nil {
		return err
	}
	container.VolumeMounts = append(container.VolumeMounts,
		corev1.VolumeMount{Name: dataVolume, MountPath: member.DataMount})
	pod.Annotations[AnnotationRestore] = restore
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
	pod.Spec.Volumes = append(pod.Spec.Volumes, volumes...)
	return nil
}
