package world

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// everything lets all faults happen.
func everything() *Scenario {
	s := &Scenario{}
	for kind := firstFault; kind < kinds; kind++ {
		s.Kinds = append(s.Kinds, kind)
	}
	return s
}

// TestMovesTouchOnlyTheirWorld walks at random: no move changes the world that it was cloned from, and the same move
// from equal worlds leads to equal worlds. The search relies on both.
func TestMovesTouchOnlyTheirWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := Spec{Size: rapid.IntRange(1, 3).Draw(t, "size"), Persistent: rapid.Bool().Draw(t, "persistent"), Version: "3.6.16"}
		w := New(&Config{Next: plan.Next}, spec)
		up, moved := spec, spec
		up.Version, moved.Persistent = "3.7.3", !spec.Persistent
		w.Faults, w.Edits = 3, []Spec{up, moved, spec}
		for range 40 {
			moves := w.moves(everything(), w.turn(w.Key()))
			if len(moves) == 0 {
				return
			}
			m := rapid.SampledFrom(moves).Draw(t, "move")
			before := w.Key()
			next, again := w.Clone(), w.Clone()
			next.Do(m)
			again.Do(m)
			if w.Key() != before {
				t.Fatalf("%s changed the world that it was not made in", m)
			}
			if next.Key() != again.Key() {
				t.Fatalf("%s does not always lead to the same world", m)
			}
			w = next
		}
	})
}

func TestEveryKindHasATransition(t *testing.T) {
	for kind := range kinds {
		tr := transitions[kind]
		if tr.name == "" || (tr.ifPod == nil) == (tr.ifVolume == nil && tr.ifWorld == nil) {
			t.Errorf("kind %d: %+v", kind, tr)
		}
	}
}

// TestSettle tells that a scenario which begins with a running cluster does so.
func TestSettle(t *testing.T) {
	for _, persistent := range []bool{false, true} {
		for size := 1; size <= 5; size++ {
			w := New(&Config{Next: plan.Next}, Spec{Size: size, Persistent: persistent, Version: "3.7.3"})
			if w.Settle(); !w.reached() || w.Broken != "" {
				t.Errorf("size %d persistent %t: the spec is not reached: %s", size, persistent, w.Broken)
			}
		}
	}
}
