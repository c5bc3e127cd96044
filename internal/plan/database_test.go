package plan

import (
	"reflect"
	"slices"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestDefragmentedIsNotHealthy: a member that is being defragmented serves nobody, however long that takes.
func TestDefragmentedIsNotHealthy(t *testing.T) {
	for _, since := range []time.Duration{time.Second, time.Hour} {
		o := surveyed(3, func(o *Observed) { o.Etcd.Databases[1].Defragmenting = now.Add(-since) })
		if healthy := Assess(o).Healthy; slices.Contains(healthy, name(1)) || len(healthy) != 2 {
			t.Errorf("after %s these are healthy: %q", since, healthy)
		}
	}
}

// TestNothingElseWhileDefragmenting wants no other voter to be disrupted while one is being defragmented, and not that one either.
func TestNothingElseWhileDefragmenting(t *testing.T) {
	busy := surveyed(3, func(o *Observed) { o.Etcd.Databases[1].Defragmenting = now.Add(-time.Minute) })
	v := newView(busy)
	if v.Defragmented.Name != name(1) || slices.Contains(v.Healthy, name(1)) {
		t.Fatalf("defragmented: %+v, healthy: %v", v.Defragmented, v.Healthy)
	}
	for _, a := range []Action{
		RemoveMember{ID: id(2), Name: name(2)},
		RemoveMember{ID: id(1), Name: name(1)},
		SetImage{Name: name(2)},
		Recreate{Name: name(0)},
		DeletePod{Name: name(2)},
		DeletePod{Name: name(1)},
		Defragment{Name: name(2)},
		MoveLeader{From: id(0), To: id(1)},
	} {
		got, _ := v.guarded(runningGuards, a)
		if w, waits := got.(Wait); !waits || w.Reason != v1beta2.ReasonDefragmenting {
			t.Errorf("%#v becomes %#v", a, got)
		}
	}
	for _, a := range []Action{MoveLeader{From: id(0), To: id(2)}, SetBudget{MinAvailable: 3}, AddToService{Pods: []string{name(2)}}} {
		if got, _ := v.guarded(runningGuards, a); !reflect.DeepEqual(got, a) {
			t.Errorf("%#v becomes %#v", a, got)
		}
	}
	for title, o := range map[string]Observed{
		"an update":      edit(busy, func(o *Observed) { o.Pods[2].Drift.Template = true }),
		"evictions":      edit(busy, func(o *Observed) { o.Budget.MinAvailable = 3 }),
		"nothing":        busy,
		"out of service": edit(busy, readied(1)),
	} {
		if w, ok := Next(o).(Wait); !ok || w.Reason != v1beta2.ReasonDefragmenting || w.After != pollDefragmented {
			t.Errorf("%s: %#v", title, Next(o))
		}
	}
	done := edit(busy, readied(1), func(o *Observed) { o.Etcd.Databases[1].Defragmenting = time.Time{} })
	if a, ok := Next(done).(AddToService); !ok {
		t.Errorf("once it is done: %#v", a)
	}
}
