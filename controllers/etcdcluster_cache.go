package controllers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TrimPod leaves of a pod what an observation reads, for the cache: thousands of pods are most of the operator's memory.
// Nothing is written on what a cache holds, so nothing that is left out here can be lost.
func TrimPod(o any) (any, error) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil // the last state of an object whose deletion was missed
	}
	pod.ManagedFields = nil
	etcd := resources.EtcdOf(pod)
	pod.Spec = corev1.PodSpec{
		NodeName:   pod.Spec.NodeName,
		Containers: []corev1.Container{{Name: etcd.Name, Image: etcd.Image}},
		Volumes: slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim == nil
		}),
	}
	return pod, nil
}
