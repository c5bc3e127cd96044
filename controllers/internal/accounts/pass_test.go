package accounts_test

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/accounts"
	"github.com/etcdpilot/etcd-operator/internal/access"
)

// TestLongAccountCondition cuts what the API server would refuse the whole status for, and takes what was cut for known.
func TestLongAccountCondition(t *testing.T) {
	var calls []access.Call
	for range 64 {
		calls = append(calls, access.Grant{Role: "r", Permission: access.Permission{
			Range: access.Range{Key: strings.Repeat("a", 1024), RangeEnd: strings.Repeat("b", 1024)}, Rights: access.Read,
		}})
	}
	for title, c := range map[string]struct {
		action access.Action
		err    error
	}{
		"calls":     {access.Apply{Calls: calls}, nil},
		"an error":  {access.Idle{}, errors.New(strings.Repeat("x", 40000))},
		"a problem": {access.Wait{Reason: v1beta2.ReasonWaitingForEtcd, Message: strings.Repeat("x", 40000)}, nil},
	} {
		p := &accounts.Pass{Action: c.action}
		var conditions []metav1.Condition
		p.Ready(&conditions, 1, c.err)
		if got := len(conditions[0].Message); got > 32768 || got < 30000 {
			t.Errorf("%s: the message has %d bytes", title, got)
		}
		if _, waits := c.action.(access.Wait); waits && p.Outcome(conditions).New {
			t.Errorf("%s: it is new again", title)
		}
	}
}
