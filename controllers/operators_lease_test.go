package controllers_test

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leaseSquatted has someone else take up the namespace of an operator that is gone, with a Lease of that name, and renew it
// forever. It is another Lease: whoever comes after the operator acts.
func leaseSquatted(t *testing.T, r *rivals) {
	a, b := r.plain(t, former), r.plain(t, present)
	r.renews(t, a.Operator)
	r.settle(t, a)
	r.claimed(t, a.Operator)
	if r.kind.by(r.read(t)).UID == "" {
		t.Fatal("the claim does not say which Lease of that name it is")
	}
	r.renews(t, b.Operator)
	r.passes(t, b)
	r.endsLease(t, a.Operator)
	for range 3 {
		r.later(glance)
		r.renews(t, a.Operator)
		r.passes(t, b)
	}
	r.claimed(t, a.Operator)
	r.later(glance)
	r.renews(t, a.Operator)
	r.passes(t, b)
	r.claimed(t, b.Operator)
	r.settle(t, b)
	next := r.plain(t, former)
	for range 3 {
		r.later(glance)
		r.renews(t, a.Operator)
		r.renews(t, b.Operator)
		r.passes(t, next)
	}
	r.claimed(t, b.Operator)
}

// leaseMadeAgain deletes the Lease of an operator that acts. Its leader election makes another one, and renews that: the process
// ends, and the next one claims with it, in a pass of its own, what it finds claimed by its own name.
func leaseMadeAgain(t *testing.T, r *rivals) {
	a := r.plain(t, former)
	r.renews(t, a.Operator)
	r.settle(t, a)
	was := r.kind.by(r.read(t)).UID
	stays, end := context.WithCancel(t.Context())
	end()
	if err := a.known.Stay(stays); err != nil {
		t.Errorf("recorded to end: %v", err)
	}
	r.endsLease(t, a.Operator)
	r.renews(t, a.Operator)
	if err := a.known.Stay(t.Context()); err == nil || !strings.Contains(err.Error(), "deleted and recreated") {
		t.Errorf("it ends with %v", err)
	}
	next := r.plain(t, former)
	before, object := r.all(t), r.read(t)
	r.passes(t, next)
	r.claimed(t, a.Operator)
	if now := r.kind.by(r.read(t)).UID; now == "" || now == was {
		t.Errorf("it is claimed with the Lease %s, and was with %s", now, was)
	}
	r.onlyClaimed(t, before, object)
	if recorded := next.recordedEvents(); len(recorded) != 0 {
		t.Errorf("it said %q", recorded)
	}
	b := r.plain(t, present)
	for range 6 {
		r.renews(t, a.Operator)
		r.passes(t, b)
		r.later(glance)
	}
	r.claimed(t, a.Operator)
}

// leaseOfAnotherName wants no claim by a Lease that no operator has, and none may read.
func leaseOfAnotherName(t *testing.T, r *rivals) {
	patch := []byte(`{"status":{"operator":{"namespace":"rival-a","lease":"another"}}}`)
	err := r.Status().Patch(t.Context(), r.read(t), client.RawPatch(types.MergePatchType, patch))
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.operator.lease") {
		t.Errorf("got %v", err)
	}
}
