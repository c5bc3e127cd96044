package etcdcluster

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestPaces repeats an action, alone and in turns with another one, and carries out ever other ones.
func TestPaces(t *testing.T) {
	one, now := types.NamespacedName{Name: "one"}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	remove := func(id uint64) plan.Action { return plan.RemoveMember{ID: id} }
	t.Run("the same", func(t *testing.T) {
		p, at := &paces{}, now
		pauses := []time.Duration{}
		for range 20 {
			if left := p.wait(one, remove(1), at); left > 0 {
				t.Fatalf("it must wait %s more", left)
			}
			pauses = append(pauses, p.note(one, remove(1), at))
			at = at.Add(max(pauses[len(pauses)-1], reconcile.Soon))
		}
		if pauses[0] != 0 || pauses[1] != 2*reconcile.Soon || pauses[2] != 4*reconcile.Soon || pauses[19] != longest {
			t.Errorf("the pauses are %s", pauses)
		}
		if left := p.wait(one, remove(1), at.Add(-time.Second)); left != time.Second {
			t.Errorf("woken a second too early it must wait %s", left)
		}
		if left := p.wait(one, remove(2), at.Add(-time.Second)); left != 0 {
			t.Errorf("another action must wait %s", left)
		}
		if left := p.wait(one, plan.Idle{}, at.Add(-time.Second)); left != 0 {
			t.Errorf("to do nothing must wait %s", left)
		}
		if pause := p.note(one, remove(1), at.Add(remembered+time.Second)); pause != 0 {
			t.Errorf("long after, the pause is %s", pause)
		}
		p.forget(one)
		if len(p.of) != 0 {
			t.Error("it is not forgotten")
		}
	})
	t.Run("in turns", func(t *testing.T) {
		p, pause := &paces{}, time.Duration(0)
		for i := range 20 {
			pause = p.note(one, remove(uint64(i%2)), now.Add(time.Duration(i)*time.Millisecond))
		}
		if pause < time.Second {
			t.Errorf("after ten turns the pause is %s", pause)
		}
	})
	t.Run("ever another", func(t *testing.T) {
		p := &paces{}
		for id := range uint64(atOnce) {
			if left := p.wait(one, remove(id), now); left > 0 {
				t.Fatalf("number %d must wait %s", id, left)
			}
			p.note(one, remove(id), now)
		}
		if left := p.wait(one, remove(atOnce), now); left <= 0 || left > time.Second {
			t.Errorf("one more must wait %s", left)
		}
		if left := p.wait(types.NamespacedName{Name: "two"}, remove(1), now); left > 0 {
			t.Errorf("another cluster must wait %s", left)
		}
	})
}
