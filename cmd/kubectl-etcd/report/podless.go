package report

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// noPod is the problem of a member without a pod. What status says of it may be old: nobody keeps it up to date while the operator is down.
const noPod = "it has no pod"

// WithPodless adds to the answers one of each member that has no pod, to say so. The pods are all that the cluster's members have.
func WithPodless(c *v1beta2.EtcdCluster, pods []corev1.Pod, answers map[string]Answer) map[string]Answer {
	all := map[string]Answer{}
	maps.Copy(all, answers)
	for _, m := range c.Status.MemberStatuses {
		if slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Name == m.Name }) {
			continue
		}
		all[m.Name] = Answer{Problem: noPod, Podless: true}
		if !m.Ready && m.Message != "" {
			all[m.Name] = Answer{Problem: noPod + ": " + m.Message, Podless: true}
		}
	}
	return all
}
