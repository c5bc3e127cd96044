package etcdcluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

var begun = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func named(n int) types.NamespacedName {
	return types.NamespacedName{Namespace: fmt.Sprintf("ns%d", n), Name: fmt.Sprintf("c%d", n)}
}

// full is a brake that lets no more clusters be disturbed: c0 to c4 are.
func full(t *testing.T) *brake {
	t.Helper()
	b := &brake{}
	b.fill(t)
	return b
}

func (b *brake) fill(t *testing.T) {
	t.Helper()
	for i := range maxDisturbed {
		if !b.may(named(i), begun) || !b.take(named(i), begun) {
			t.Fatalf("%d clusters are disturbed, and no other may be", i)
		}
	}
}

// TestBrake lets no more than five clusters be disturbed, and each of those go on.
func TestBrake(t *testing.T) {
	b := full(t)
	if b.may(named(5), begun) || b.take(named(5), begun) {
		t.Error("a sixth cluster may be disturbed")
	}
	if !b.may(named(3), begun) || !b.take(named(3), begun) {
		t.Error("one that is disturbed already may not go on")
	}
	b.forget(named(3))
	if !b.take(named(5), begun) {
		t.Error("one is gone, and no other may be disturbed")
	}
}

// TestBrakeIsFair gives each its turn in the order of asking, whoever looks first.
func TestBrakeIsFair(t *testing.T) {
	b := full(t)
	queue := priorityqueue.New[ctrl.Request](t.Name())
	t.Cleanup(queue.ShutDown)
	if err := b.start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{5, 6, 7, 5} {
		b.wait(named(i), begun)
	}
	now := begun.Add(lingers)
	if left := b.calm(named(0), now); left != 0 {
		t.Errorf("it lingers for another %s", left)
	}
	if woken, _ := queue.Get(); woken.NamespacedName != named(5) {
		t.Errorf("it is the turn of %s", woken)
	}
	for _, i := range []int{0, 6, 7, 8} {
		if b.may(named(i), now) || b.take(named(i), now) {
			t.Errorf("c%d comes before c5", i)
		}
	}
	b.leave(named(5))
	if !b.take(named(6), now) || b.may(named(7), now) {
		t.Error("once c5 wants nothing, it is not the turn of c6 alone")
	}
}

// TestBrakeSharesByNamespace leaves two turns to others, whoever has come first.
func TestBrakeSharesByNamespace(t *testing.T) {
	b := &brake{}
	of := func(i int) types.NamespacedName { return types.NamespacedName{Namespace: "crowd", Name: fmt.Sprint(i)} }
	for i := range maxOfNamespace {
		if !b.take(of(i), begun) {
			t.Fatalf("%d of the namespace are disturbed, and no other may be", i)
		}
	}
	for i := range 2 * maxDisturbed {
		b.wait(of(10+i), begun)
	}
	if b.may(of(10), begun) || b.may(of(3), begun) {
		t.Error("one namespace has more than its share")
	}
	if !b.take(named(0), begun) || !b.take(named(1), begun) || b.may(named(2), begun) {
		t.Error("clusters of other namespaces do not have what is left, or more")
	}
	b.forget(of(0))
	if b.may(of(11), begun) || !b.may(of(10), begun) {
		t.Error("it is not the turn of the first that waits")
	}
}

// of are clusters of a namespace, in the order of their numbers.
func of(namespace string, from, to int) (all []types.NamespacedName) {
	for i := from; i <= to; i++ {
		all = append(all, types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(i)})
	}
	return all
}

// TestBrakeGoesRound has a namespace wait for no more than one turn of each other one that waits, however many clusters of those came first.
func TestBrakeGoesRound(t *testing.T) {
	b, disturbed := &brake{}, slices.Concat(of("a", 0, 2), of("b", 0, 1))
	for _, c := range disturbed {
		if !b.take(c, begun) {
			t.Fatalf("%s has no turn", c)
		}
	}
	waiting := slices.Concat(of("a", 3, 20), of("b", 2, 20), of("v", 0, 5))
	for _, c := range waiting {
		b.wait(c, begun)
	}
	var turns []string
	for range 9 {
		b.forget(disturbed[0])
		i := slices.IndexFunc(waiting, func(c types.NamespacedName) bool { return b.take(c, begun) })
		if i < 0 {
			t.Fatalf("after %s nobody has the turn that is free", turns)
		}
		turns = append(turns, waiting[i].String())
		disturbed, waiting = append(disturbed[1:], waiting[i]), slices.Delete(waiting, i, i+1)
	}
	if got, want := strings.Join(turns, " "), "v/0 a/3 v/1 b/2 a/4 v/2 b/3 a/5 v/3"; got != want {
		t.Errorf("the turns are %s, want %s", got, want)
	}
}

// TestBrakeLingers counts a cluster as disturbed for half a minute after the last act, and until it is well; but not for ever.
func TestBrakeLingers(t *testing.T) {
	b := full(t)
	if left := b.calm(named(0), begun.Add(lingers/3)); left != lingers-lingers/3 {
		t.Errorf("it is to look again in %s", left)
	}
	b.leave(named(0))
	if b.may(named(5), begun.Add(lapses)) {
		t.Error("one that is not well is not counted")
	}
	if !b.may(named(5), begun.Add(lapses+time.Second)) {
		t.Error("others wait for good for one that is never well")
	}
}

// TestBrakeForgetsTheSilent gives the turn of those that are not heard of to the next one.
func TestBrakeForgetsTheSilent(t *testing.T) {
	b := full(t)
	b.wait(named(5), begun)
	b.forget(named(0))
	soon := begun.Add(asksAgain)
	b.wait(named(6), soon)
	if b.may(named(6), soon) {
		t.Error("c6 comes before c5")
	}
	if !b.may(named(6), soon.Add(time.Second)) {
		t.Error("c6 waits for c5, which is not heard of")
	}
}
