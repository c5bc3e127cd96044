package restore

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// Saves reports whether its next pod saves what the cluster holds: what a surviving member does is saved before it is verified.
func Saves(o *v1beta2.EtcdRestore) bool {
	return o.Status.Phase == v1beta2.RestoreSaving || o.Spec.Member != nil && o.Status.SafetySnapshot == nil
}

// PodName is the name of the pod of a try. Another EtcdRestore of the same name has other pods, and so has another phase.
func PodName(o *v1beta2.EtcdRestore, attempt int) string {
	const unique = 8
	task := "verify"
	if Saves(o) {
		task = "save"
	}
	return retry.PodName(o.Name, fmt.Sprintf("%s-%s-%d", o.UID[:min(unique, len(o.UID))], task, attempt))
}
