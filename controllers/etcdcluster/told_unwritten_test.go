package etcdcluster_test

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestToldThoughStatusIsNotWritten has somebody write the object between an action and the write to status: what was done is told once, and what that
// write decides is told when it is decided.
func TestToldThoughStatusIsNotWritten(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: "ns", Name: "c"}
	w.cluster(t, name)
	written := true
	w.operator.Client = interceptor.NewClient(w.operator.Client.(client.WithWatch), interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, resource string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			if !written {
				return apierrors.NewConflict(schema.GroupResource{Resource: "etcdclusters"}, o.GetName(), nil)
			}
			return c.SubResource(resource).Update(ctx, o, opts...)
		},
	})
	step := func() string {
		_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		told := ""
		for len(w.recorder.Events) > 0 {
			told += <-w.recorder.Events + "\n"
		}
		return told
	}
	step() // it is claimed
	written = false
	if told := step(); strings.Contains(told, "initial members") {
		t.Errorf("told of a first start that is not written down: %s", told)
	}
	written = true
	if told := step(); !strings.Contains(told, "initial members") {
		t.Errorf("not told of the first start: %s", told)
	}
	written = false
	if told := step(); strings.Count(told, "creating pods") != 1 {
		t.Errorf("the pods are created, and that is told: %s", told)
	}
	written = true
	for range 3 {
		if told := step(); strings.Contains(told, "creating pods") {
			t.Errorf("told again: %s", told)
		}
	}
}
