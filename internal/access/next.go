package access

import "github.com/etcdpilot/etcd-operator/internal/failure"

// Observed is what the decision about an EtcdUser or EtcdRole depends on.
type Observed struct {
	// Deleting is true if the object is being deleted, HasFinalizer if it waits for this operator.
	Deleting, HasFinalizer bool
	// Untouched is true if nothing in etcd is this object's to delete: its EtcdCluster is gone or being deleted, or an older object has
	// the name.
	Untouched bool
	// Problem is why nothing can be done now, nil if it can.
	Problem *failure.Problem
	// Calls are what makes etcd have what is wanted, or no more of it while Deleting.
	Calls []Call
}

// Action is what to do next. The set is closed.
//
//sumtype:decl
type Action interface{ action() }

// Idle means that etcd has what is wanted.
type Idle struct{}

// Wait means that nothing can be done before something else has happened.
type Wait failure.Problem

// AddFinalizer has a finalizer keep the object until etcd has it no more.
type AddFinalizer struct{}

// RemoveFinalizer removes that finalizer.
type RemoveFinalizer struct{}

// Apply sends requests to etcd, one after the other.
type Apply struct{ Calls []Call }

func (Idle) action()            {}
func (Wait) action()            {}
func (AddFinalizer) action()    {}
func (RemoveFinalizer) action() {}
func (Apply) action()           {}

// Mutates reports whether the action changes anything: such an action is decided a second time, on live reads.
func Mutates(a Action) bool {
	switch a.(type) {
	case Idle, Wait:
		return false
	default:
		return true
	}
}

// Next decides. The finalizer is there before anything is written to etcd, and goes once nothing of the object is there any more.
func Next(o Observed) Action {
	switch {
	case o.Deleting && !o.HasFinalizer:
		return Idle{}
	case o.Deleting && o.Untouched:
		return RemoveFinalizer{}
	case o.Problem != nil:
		return Wait(*o.Problem)
	case !o.Deleting && !o.HasFinalizer:
		return AddFinalizer{}
	case len(o.Calls) > 0:
		return Apply{o.Calls}
	case o.Deleting:
		return RemoveFinalizer{}
	}
	return Idle{}
}
