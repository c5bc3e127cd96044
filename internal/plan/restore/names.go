package restore

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// PodName is the name of the pod of a try. Another EtcdRestore of the same name has other pods, and so has another phase.
func PodName(o *v1beta2.EtcdRestore, attempt int) string {
	const unique = 8
	task := "verify"
	if o.Status.Phase == v1beta2.RestoreSaving {
		task = "save"
	}
	return retry.PodName(o.Name, fmt.Sprintf("%s-%s-%d", o.UID[:min(unique, len(o.UID))], task, attempt))
}
