package etcd

import (
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestForgetsPodsThatAreGone has a cluster's pods be recreated under other UIDs: what is remembered of the earlier ones goes with them.
func TestForgetsPodsThatAreGone(t *testing.T) {
	p, now := NewPool(), time.Now()
	u := p.upkeepOf("demo")
	w := &watch{recent: map[string][]sample{}, still: map[string]sample{}}
	p.watches["demo"] = w
	for _, uid := range []string{"before", "after"} {
		u.rests[uid], u.last[uid], u.busy[uid] = rest{at: now}, plan.Defragmentation{Vain: 2}, busy{since: now}
		w.recent[uid], w.still[uid] = []sample{{at: now}}, sample{at: now}
	}
	p.Disconnect("demo") // as passes do that end in peace
	if len(u.last) != 2 || len(w.still) != 2 {
		t.Errorf("without connections it is remembered: %+v, %+v", u.last, w.still)
	}
	p.Observe(t.Context(), "demo", nil, plan.Electorate{}, []Endpoint{{Pod: "demo-0", PodUID: "after", Address: "127.0.0.1:1"}})
	for what, n := range map[string]int{"rests": len(u.rests), "last": len(u.last), "busy": len(u.busy), "recent": len(w.recent), "still": len(w.still)} {
		if n != 1 {
			t.Errorf("%s has %d pods", what, n)
		}
	}
	if u.last["after"].Vain != 2 {
		t.Errorf("of the pod that is still there it is remembered: %+v", u.last["after"])
	}
}
