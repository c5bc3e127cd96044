// Package reconcile is what every controller does in the same way: to write, to tell what was done, and to look again.
package reconcile

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// DeleteExact deletes the very object that was seen, not one that has its name by now.
func DeleteExact(ctx context.Context, c client.Client, o client.Object, namespace, name, uid string) error {
	o.SetNamespace(namespace)
	o.SetName(name)
	exact := types.UID(uid)
	return client.IgnoreNotFound(c.Delete(ctx, o, client.Preconditions{UID: &exact}))
}

// AddFinalizer keeps Kubernetes from deleting an object before the finalizer is removed.
func AddFinalizer(ctx context.Context, c client.Client, o client.Object, finalizer string) error {
	return changeFinalizers(ctx, c, o, func() { controllerutil.AddFinalizer(o, finalizer) })
}

// RemoveFinalizer lets Kubernetes delete an object. One that is gone is no error.
func RemoveFinalizer(ctx context.Context, c client.Client, o client.Object, finalizer string) error {
	return changeFinalizers(ctx, c, o, func() { controllerutil.RemoveFinalizer(o, finalizer) })
}

// changeFinalizers changes nothing else, and only the version that was read.
func changeFinalizers(ctx context.Context, c client.Client, o client.Object, change func()) error {
	read, _ := o.DeepCopyObject().(client.Object) // a copy has its original's type
	change()
	patch := client.MergeFromWithOptions(read, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(c.Patch(ctx, o, patch, client.FieldOwner(resources.FieldOwner))); err != nil {
		return fmt.Errorf("change the finalizers: %w", err)
	}
	return nil
}
