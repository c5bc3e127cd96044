package reach

import (
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
)

// TestLeaderLast has the leader hash its keys when all others have.
func TestLeaderLast(t *testing.T) {
	var pods []corev1.Pod
	for _, name := range []string{"c-0", "c-1", "c-2"} {
		pods = append(pods, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	answers := map[string]report.Answer{"c-0": {ID: 1, Leader: 1}, "c-1": {ID: 2, Leader: 1}, "c-2": {}}
	got := ""
	for _, pod := range leaderLast(pods, answers) {
		got += pod.Name + " "
	}
	if got != "c-1 c-2 c-0 " {
		t.Errorf("the order is %s", got)
	}
}

// TestUnhashed says what to do where etcd lets only root compare.
func TestUnhashed(t *testing.T) {
	for _, c := range []struct {
		err    error
		secret bool
	}{
		{rpctypes.ErrPermissionDenied, true},
		{rpctypes.ErrFutureRev, false},
	} {
		if says := unhashed("demo", 7, c.err); strings.Contains(says, "--secret") != c.secret || !strings.Contains(says, c.err.Error()) {
			t.Errorf("of %v it says %s", c.err, says)
		}
	}
}
