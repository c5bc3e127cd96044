package reservations

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

// TestLeasesAreForgotten has Leases matter and cease to: what is known of them must not grow forever.
func TestLeasesAreForgotten(t *testing.T) {
	var known leases
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	stays, goes := claim.Operator{Namespace: "a", Lease: LeaseName}, claim.Operator{Namespace: "b", Lease: LeaseName}
	first := known.of(stays, now)
	known.of(goes, now)
	for range 4 {
		now = now.Add(forgetAfter / 2)
		if known.of(stays, now) != first {
			t.Error("one that matters is forgotten")
		}
	}
	if len(known.all) != 1 {
		t.Errorf("%d are known", len(known.all))
	}
}

// TestGivenUpIsReadAgain has an operator come back right after its Lease was last read, and found given up: whoever takes its place
// must see that first.
func TestGivenUpIsReadAgain(t *testing.T) {
	other, self := claim.Operator{Namespace: "b", Lease: LeaseName}, claim.Operator{Namespace: "a", Lease: LeaseName}
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	held := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: other.Namespace, Name: other.Lease},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("b-1"), RenewTime: new(metav1.NowMicro())},
	}
	api := fake.NewClientBuilder().WithObjects(held).Build()
	var known leases
	decide := func() claim.Decision {
		seen, err := known.look(t.Context(), api, clock, other)
		if err != nil {
			t.Fatal(err)
		}
		return claim.Decide(self, other, seen)
	}
	for range 6 { // a minute and more
		decide()
		clock.SetTime(clock.Now().Add(lookEvery + time.Second))
	}
	if _, gone := decide().(claim.TakeOver); !gone {
		t.Fatal("it never counts as given up")
	}
	clock.SetTime(clock.Now().Add(time.Second))
	held.Spec.RenewTime = new(metav1.NewMicroTime(held.Spec.RenewTime.Add(time.Minute)))
	if err := api.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	if _, gone := decide().(claim.TakeOver); gone {
		t.Error("its place is taken although it is back")
	}
}
