// Package reconcile is what every controller does in the same way: to write, to tell what was done, and to look again.
package reconcile

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcdpilot/etcd-operator/internal/resources"
)

const (
	// Heartbeat is how often an object is looked at when nothing has woken the operator.
	Heartbeat = time.Minute
	// Soon is the next look after an action: its effect may come with no event to wake us.
	Soon = 5 * time.Millisecond
	// NotYet is the next look after something that cannot be done at the moment.
	NotYet = 250 * time.Millisecond
)

// DeleteExact deletes the very object that was seen, not one that has its name by now.
func DeleteExact(ctx context.Context, c client.Client, o client.Object, namespace, name, uid string) error {
	o.SetNamespace(namespace)
	o.SetName(name)
	exact := types.UID(uid)
	return client.IgnoreNotFound(c.Delete(ctx, o, client.Preconditions{UID: &exact}))
}

// SetFinalizer changes nothing else, and only the version that was read.
func SetFinalizer(
	ctx context.Context, c client.Client, o client.Object, finalizer string, set func(client.Object, string) bool,
) error {
	read, _ := o.DeepCopyObject().(client.Object) // a copy has its original's type
	set(o, finalizer)
	patch := client.MergeFromWithOptions(read, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(c.Patch(ctx, o, patch, client.FieldOwner(resources.FieldOwner))); err != nil {
		return fmt.Errorf("change the finalizers: %w", err)
	}
	return nil
}

// Stale tells whether a write failed because of what the view did not have yet.
func Stale(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }

// LookAgain is for a view that was stale: the next pass decides on a newer one.
func LookAgain(ctx context.Context, because error) (ctrl.Result, error) {
	log.FromContext(ctx).V(1).Info("looking again", "because", because.Error())
	return ctrl.Result{RequeueAfter: NotYet}, nil
}
