package monitoring

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

func cluster(namespace, name string) *v1beta2.EtcdCluster {
	return &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "uid"}}
}

// listed is an API server with these objects, which calls back before it lists any.
func listed(t *testing.T, before func() error, objects ...*unstructured.Unstructured) client.Reader {
	t.Helper()
	scheme := testenv.Scheme(t)
	for _, kind := range []schema.GroupVersionKind{resources.PodMonitorKind, resources.PrometheusRuleKind} {
		scheme.AddKnownTypeWithName(kind, &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &unstructured.UnstructuredList{})
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := c.List(ctx, list, opts...)
			if failed := before(); failed != nil {
				return failed
			}
			return err
		},
	}).Build()
	for _, o := range objects {
		if err := c.Create(t.Context(), o.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestLook finds the operator's objects, and tells those that were changed.
func TestLook(t *testing.T) {
	c := cluster("a", "c")
	good, changed, foreign := resources.PodMonitor(c), resources.PodMonitor(cluster("b", "c")), resources.PodMonitor(cluster("a", "d"))
	changed.Object["spec"] = map[string]any{}
	foreign.SetLabels(nil)
	for title, namespaces := range map[string][]string{"everywhere": nil, "in some namespaces": {"a", "b"}} {
		t.Run(title, func(t *testing.T) {
			o := &Objects{Live: listed(t, func() error { return nil }, good, changed, foreign), Namespaces: namespaces}
			if found := o.Find(resources.PodMonitorKind, client.ObjectKeyFromObject(good)); found.Served {
				t.Errorf("before the first look: %+v", found)
			}
			if !o.Look(t.Context()) {
				t.Error("it has not seen everything")
			}
			found := o.Find(resources.PodMonitorKind, client.ObjectKeyFromObject(good))
			if !found.Served || found.Object == nil || !found.Object.AsMade || !resources.OwnedBy(found.Object.Owners, c.UID) {
				t.Errorf("found %+v", found)
			}
			if found := o.Find(resources.PodMonitorKind, client.ObjectKeyFromObject(changed)); found.Object == nil || found.Object.AsMade {
				t.Errorf("of the changed one it knows %+v", found)
			}
			if found := o.Find(resources.PodMonitorKind, client.ObjectKeyFromObject(foreign)); !found.Served || found.Object != nil {
				t.Errorf("of somebody else's it knows %+v", found)
			}
		})
	}
}

// TestLookMeetsNote keeps what was noted while the objects were being listed, also that one is gone.
func TestLookMeetsNote(t *testing.T) {
	gone, made := resources.PodMonitor(cluster("a", "gone")), client.ObjectKey{Namespace: "a", Name: "made"}
	var o *Objects
	during := func() {}
	o = &Objects{Live: listed(t, func() error { during(); return nil }, gone)}
	o.Look(t.Context())
	during = func() {
		o.Note(resources.PodMonitorKind, client.ObjectKeyFromObject(gone), nil)
		o.Note(resources.PodMonitorKind, made, &Object{AsMade: true})
	}
	o.Look(t.Context())
	if found := o.Find(resources.PodMonitorKind, client.ObjectKeyFromObject(gone)); found.Object != nil {
		t.Errorf("it has been deleted, and is known as %+v", found.Object)
	}
	if found := o.Find(resources.PodMonitorKind, made); found.Object == nil {
		t.Error("it has been made, and is not known")
	}
	during = func() {}
	o.Look(t.Context())
	if found := o.Find(resources.PodMonitorKind, made); found.Object != nil {
		t.Errorf("the next look does not see it, and it is known as %+v", found.Object)
	}
}

// TestLookFails tells a kind that is not there from one that may not be listed, and keeps what it knows during an outage.
func TestLookFails(t *testing.T) {
	var err error
	o := &Objects{Live: listed(t, func() error { return err }, resources.PodMonitor(cluster("a", "c")))}
	key := client.ObjectKey{Namespace: "a", Name: "c"}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "podmonitors"}, "", errors.New("no"))
	for _, step := range []struct {
		title                             string
		err                               error
		complete, served, refused, object bool
	}{
		{title: "an outage first", err: apierrors.NewServiceUnavailable("away")},
		{title: "not installed", err: &meta.NoKindMatchError{}, complete: true},
		{title: "installed", complete: true, served: true, object: true},
		{title: "an outage", err: apierrors.NewServiceUnavailable("away"), served: true, object: true},
		{title: "forbidden", err: forbidden, served: true, refused: true},
		{title: "allowed again", complete: true, served: true, object: true},
		{title: "uninstalled", err: apierrors.NewGenericServerResponse(404, "", schema.GroupResource{}, "", "", 0, true), complete: true},
	} {
		err = step.err
		complete, found := o.Look(t.Context()), Found{}
		if found = o.Find(resources.PodMonitorKind, key); complete != step.complete || found.Served != step.served ||
			(found.Refused != nil) != step.refused || !step.refused && (found.Object != nil) != step.object {
			t.Errorf("%s: complete %v, found %+v", step.title, complete, found)
		}
	}
}
