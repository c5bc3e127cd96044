package outage

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// retryRefused is the least pause before a namespace that may not be listed is tried again; up to as much again is added at random.
// Someone who has just granted the rights waits for it, and each namespace costs one request for each kind.
const retryRefused = 5 * time.Second

func pauseRefused() time.Duration { return wait.Jitter(retryRefused, 1) }

// inNamespace is how every API server says where a right is missing, whichever authorizer decided
// (ForbiddenStatusError in k8s.io/apiserver/pkg/endpoints/handlers/responsewriters).
var inNamespace = regexp.MustCompile(`^[^:]* is forbidden: User ".*" cannot (?:list|watch) resource ".*" in API group ".*" in the namespace "([^"]+)"`)

// refusedIn is the namespace in which an error says that a right to list or to watch is missing. It is false for a right in the
// whole Kubernetes cluster.
func refusedIn(err error) (namespace string, ok bool) {
	answer := apierrors.APIStatus(nil)
	if !apierrors.IsForbidden(err) || !errors.As(err, &answer) {
		return "", false
	}
	found := inNamespace.FindStringSubmatch(answer.Status().Message)
	if found == nil {
		return "", false
	}
	return found[1], true
}

// unseen are the informers that have never had a list, for want of rights, as *informer to the name of the namespace.
var unseen sync.Map

// Unseen reports whether some kind of objects in the namespace has never been listed, for want of rights. What the caches say of
// the namespace is then no reason to act: pods may be there that only cannot be seen. NetworkPolicies do not count.
func Unseen(namespace string) bool { return unseenIn(namespace, false) }

// UnseenPolicies reports whether the NetworkPolicies in the namespace have never been listed, for want of rights. No member depends
// on one, so passes begin all the same; they have to read the one that they want to see from the API server.
func UnseenPolicies(namespace string) bool { return unseenIn(namespace, true) }

func unseenIn(namespace string, policies bool) bool {
	found := false
	unseen.Range(func(key, value any) bool {
		switch i, _ := key.(*informer); {
		case i.SharedIndexInformer.HasSynced():
			unseen.Delete(key)
		case value == namespace && i.policies == policies:
			found = true
		}
		return !found
	})
	return found
}

// informer counts as synced while it may not list. Its store stays as it is: it is empty if nothing was ever listed, and otherwise
// has what was last seen, because to lose a right is not to lose the objects.
type informer struct {
	cache.SharedIndexInformer
	// policies says whether its objects are NetworkPolicies.
	policies bool
	excused  atomic.Bool
}

// refused notes a refusal, and logs it if it is the first.
func (i *informer) refused(ctx context.Context, namespace string, err error, first bool) {
	seen := i.SharedIndexInformer.HasSynced()
	if !seen {
		unseen.Store(i, namespace)
		i.excused.Store(true)
	}
	if !first {
		return
	}
	says := "nothing in this namespace is looked after until the operator may list all that it needs there: if the namespace is " +
		"to be watched, create it and grant the operator its role there; if not, take it out of WATCH_NAMESPACE"
	switch {
	case i.policies && !seen:
		says = "changes by hand of NetworkPolicies in this namespace are noticed late, and maybe none is made: the operator may not " +
			"list them, grant it its role there"
	case seen:
		says = "nothing new is seen of some objects in this namespace: the operator has lost rights there, grant them again"
	}
	log.FromContext(ctx).Info(says, "namespace", namespace, "error", err.Error())
}

// HasSynced is also true while a refusal keeps the informer from its first list.
func (i *informer) HasSynced() bool { return i.excused.Load() || i.SharedIndexInformer.HasSynced() }

func (i *informer) Run(stop <-chan struct{}) {
	defer unseen.Delete(i)
	i.SharedIndexInformer.Run(stop)
}

func (i *informer) RunWithContext(ctx context.Context) {
	defer unseen.Delete(i)
	i.SharedIndexInformer.RunWithContext(ctx)
}

// registration counts as synced while its informer is excused: there is nothing yet that its handler could have missed.
type registration struct {
	cache.ResourceEventHandlerRegistration
	of *informer
}

func (r *registration) HasSynced() bool {
	return r.of.excused.Load() || r.ResourceEventHandlerRegistration.HasSynced()
}

func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.registered(i.SharedIndexInformer.AddEventHandler(h))
}

func (i *informer) AddEventHandlerWithResyncPeriod(
	h cache.ResourceEventHandler, period time.Duration,
) (cache.ResourceEventHandlerRegistration, error) {
	return i.registered(i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(h, period))
}

func (i *informer) AddEventHandlerWithOptions(
	h cache.ResourceEventHandler, o cache.HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	return i.registered(i.SharedIndexInformer.AddEventHandlerWithOptions(h, o))
}

func (i *informer) registered(r cache.ResourceEventHandlerRegistration, err error) (cache.ResourceEventHandlerRegistration, error) {
	if err != nil {
		return nil, err
	}
	return &registration{r, i}, nil
}

// RemoveEventHandler takes what AddEventHandler has returned: the inner informer knows its own registrations only.
func (i *informer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	if own, ok := handle.(*registration); ok {
		handle = own.ResourceEventHandlerRegistration
	}
	return i.SharedIndexInformer.RemoveEventHandler(handle)
}
