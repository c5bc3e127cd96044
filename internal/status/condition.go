package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// messageLimit is how long a condition's message may be (metav1.Condition): for a longer one the API server refuses the whole status.
const messageLimit = 32768

// setCondition sets a condition, with its message cut to what Kubernetes accepts. All conditions are set by it.
func setCondition(all *[]metav1.Condition, c metav1.Condition) {
	c.Message = failure.Cut(c.Message, messageLimit)
	meta.SetStatusCondition(all, c)
}
