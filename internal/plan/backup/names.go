package backup

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// PodName is the name of the pod of a run's try. No other run and no other try has the same one, so that a pod that is
// there already is the one that is meant.
func PodName(owner string, r Run) string {
	due := strconv.FormatInt(r.Due.Unix(), 36)
	return retry.PodName(owner, fmt.Sprintf("%s-%s-%d", strings.ToLower(string(r.Task)), due, r.Attempt))
}
