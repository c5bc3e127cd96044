package world

import (
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestExploreTooLarge says of an exploration that has no end that it is too large, and how it came there.
func TestExploreTooLarge(t *testing.T) {
	s := Scenario{Spec: Spec{Size: 3, Persistent: true, Version: "3.6.16"}, Lockstep: true, SafetyOnly: true, Limit: 10}
	s.Next = plan.Next
	if v := Explore(s).Violation; v == nil || v.Why != "more than 10 states" || !strings.Contains(v.String(), v.Why) || len(v.Trace) == 0 {
		t.Errorf("it is to end at the limit: %v", v)
	}
}
