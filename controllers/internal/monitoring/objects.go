// Package monitoring knows which objects of Prometheus Operator the operator has made, without asking for each cluster: the process looks
// at all of them once in a while. Whether Prometheus Operator is installed at all comes out of that, too.
package monitoring

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

const (
	// interval is the time between two looks, and the longest that a change by hand, or an installation of Prometheus Operator, goes unnoticed.
	interval = 5 * time.Minute
	// retry is the time to the next look after one that did not see everything.
	retry = 30 * time.Second
	// pageSize is how many objects are read at a time: a PrometheusRule has some 20 KiB.
	pageSize = 100
)

// Objects is what is known of the objects. It is safe for concurrent use.
type Objects struct {
	// Live reads from the API server.
	Live client.Reader
	// Namespaces are those that are watched; all if empty.
	Namespaces []string

	mu sync.Mutex
	// known is empty until the first look.
	known map[place]*listing
	// notes counts them, so that a look does not undo what was noted during it.
	notes int
}

// place is where objects of a kind are listed. The namespace is empty for all.
type place struct {
	kind      schema.GroupVersionKind
	namespace string
}

type listing struct {
	// served is true if the API server knows the kind.
	served bool
	// refused is why the objects may not be listed, nil if they may.
	refused error
	objects map[client.ObjectKey]entry
}

// entry is an object, nil for one that is gone, and the count of notes when it was noted, 0 if it was listed.
type entry struct {
	object *Object
	note   int
}

// Object is what is known of one object.
type Object struct {
	// Owners are those of the object.
	Owners []metav1.OwnerReference
	// AsMade is true if labels and spec are as the operator makes them. It is true of what was written since the last look, too, whatever
	// has become of it: so whoever changes it back each time is answered once for each look.
	AsMade bool
	// Taken says whose it is if it is in the way of the operator's; empty otherwise.
	Taken string
}

// Found is what is known of one name.
type Found struct {
	// Served is true if the API server is known to know the kind.
	Served bool
	// Refused is why it is not known which objects there are; nil if it is.
	Refused error
	// Object is nil if there is none.
	Object *Object
}

// Keep looks at the objects until the context ends.
func (o *Objects) Keep(ctx context.Context) error {
	for {
		pause := retry
		if o.Look(ctx) {
			pause = interval
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// Look lists all objects, and reports whether it saw everything there is.
func (o *Objects) Look(ctx context.Context) (complete bool) {
	namespaces := o.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	complete = true
	for _, kind := range []schema.GroupVersionKind{resources.PodMonitorKind, resources.PrometheusRuleKind} {
		for _, namespace := range namespaces {
			complete = o.lookAt(ctx, place{kind, namespace}) && complete
		}
	}
	return complete
}

func (o *Objects) lookAt(ctx context.Context, at place) (complete bool) {
	o.mu.Lock()
	begun := o.notes
	o.mu.Unlock()
	objects, err := o.list(ctx, at)
	seen := &listing{served: true, objects: objects}
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		seen, err = &listing{}, nil
	case outage.Starting(err):
		return false
	case apierrors.IsForbidden(err):
		seen.refused = err
	case err != nil: // what was known still is
		if ctx.Err() == nil && !outage.Is(err) {
			log.FromContext(ctx).Info("objects of Prometheus Operator cannot be listed", "kind", at.kind.Kind, "error", err.Error())
		}
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if before := o.known[at]; before != nil && seen.objects != nil {
		for key, e := range before.objects {
			if e.note > begun {
				seen.objects[key] = e
			}
		}
	}
	if o.known == nil {
		o.known = map[place]*listing{}
	}
	o.known[at] = seen
	return err == nil
}

// list reads the operator's objects of a kind.
func (o *Objects) list(ctx context.Context, at place) (map[client.ObjectKey]entry, error) {
	objects := map[client.ObjectKey]entry{}
	for next := ""; ; {
		page := &unstructured.UnstructuredList{}
		page.SetGroupVersionKind(at.kind.GroupVersion().WithKind(at.kind.Kind + "List"))
		err := o.Live.List(ctx, page, client.InNamespace(at.namespace), client.MatchingLabels(resources.MonitoringLabels()),
			client.Limit(pageSize), client.Continue(next))
		if err != nil {
			return objects, err
		}
		for i := range page.Items {
			found := &page.Items[i]
			objects[client.ObjectKeyFromObject(found)] = entry{object: &Object{Owners: found.GetOwnerReferences(), AsMade: resources.AsMade(found)}}
		}
		if next = page.GetContinue(); next == "" {
			return objects, nil
		}
	}
}

// Find returns what is known of an object.
func (o *Objects) Find(kind schema.GroupVersionKind, key client.ObjectKey) Found {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.at(kind, key.Namespace)
	if l == nil {
		return Found{}
	}
	return Found{Served: l.served, Refused: l.refused, Object: l.objects[key].object}
}

// Note takes note of what was written or read since the last look; nil if there is no such object.
func (o *Objects) Note(kind schema.GroupVersionKind, key client.ObjectKey, object *Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if l := o.at(kind, key.Namespace); l != nil && l.objects != nil {
		o.notes++
		l.objects[key] = entry{object, o.notes}
	}
}

func (o *Objects) at(kind schema.GroupVersionKind, namespace string) *listing {
	if len(o.Namespaces) == 0 {
		namespace = ""
	}
	return o.known[place{kind, namespace}]
}
