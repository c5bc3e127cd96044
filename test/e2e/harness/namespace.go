package harness

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Absent holds when there is no namespace of that name.
func (e *Env) Absent(namespace string) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		_, err := e.Kube.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		return fmt.Sprint(err), apierrors.IsNotFound(err)
	}
}

// RemoveNamespace deletes a namespace, if there is one, and waits until all that is in it is gone.
func (e *Env) RemoveNamespace(ctx context.Context, name string, limit time.Duration) error {
	err := e.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	return Await(ctx, "namespace "+name+" is gone", limit, e.Absent(name))
}
