// Package reconcile holds what all controllers do in the same way: write objects, record events, and requeue.
package reconcile

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// DeleteExact deletes the object with that UID, not another one that has its name by now.
func DeleteExact(ctx context.Context, c client.Client, o client.Object, namespace, name, uid string) error {
	o.SetNamespace(namespace)
	o.SetName(name)
	exact := types.UID(uid)
	return IgnoreGone(c.Delete(ctx, o, client.Preconditions{UID: &exact}))
}

// DeleteUnchanged deletes an object as it was read. One that was written since is a conflict: it may be in use by now.
func DeleteUnchanged(ctx context.Context, c client.Client, o client.Object) error {
	uid, version := o.GetUID(), o.GetResourceVersion()
	return IgnoreGone(c.Delete(ctx, o, client.Preconditions{UID: &uid, ResourceVersion: &version}))
}

// AddFinalizer keeps Kubernetes from deleting an object before the finalizer is removed.
func AddFinalizer(ctx context.Context, c client.Client, o client.Object, finalizer string) error {
	return changeFinalizers(ctx, c, o, func() { controllerutil.AddFinalizer(o, finalizer) })
}

// RemoveFinalizer lets Kubernetes delete an object. It is no error if the object is gone.
func RemoveFinalizer(ctx context.Context, c client.Client, o client.Object, finalizer string) error {
	return changeFinalizers(ctx, c, o, func() { controllerutil.RemoveFinalizer(o, finalizer) })
}

// changeFinalizers patches the finalizers alone, of the version that was read.
func changeFinalizers(ctx context.Context, c client.Client, o client.Object, change func()) error {
	read, _ := o.DeepCopyObject().(client.Object) // a copy has its original's type
	change()
	patch := client.MergeFromWithOptions(read, client.MergeFromWithOptimisticLock{})
	if err := IgnoreGone(c.Patch(ctx, o, patch, client.FieldOwner(resources.FieldOwner))); err != nil {
		return fmt.Errorf("change the finalizers: %w", err)
	}
	return nil
}

// HolderOf is how messages call the controller of an object whose name somebody else needs.
func HolderOf(o client.Object) string {
	if ref := metav1.GetControllerOf(o); ref != nil {
		return ref.Kind + " " + ref.Name
	}
	return "no controller"
}
