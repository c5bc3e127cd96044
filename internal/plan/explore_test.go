package plan_test

import (
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

func TestExplore(t *testing.T) {
	for _, persistent := range []bool{false, true} {
		for size := 1; size <= 3; size++ {
			r := world.Explore(world.Scenario{
				Config: world.Config{Persistent: persistent, Version: "3.7.3", Next: plan.Next}, Size: size,
			})
			t.Log(persistent, size, r)
			if r.Violation != nil {
				t.Error(r.Violation)
			}
		}
	}
}
