package reservations

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

// An operator may read this one Lease in every namespace that it has rights in, and no other Lease.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=etcd-operator.etcd.database.coreos.com,verbs=get

// LeaseName is that of the Lease of each operator's leader election, in the operator's own namespace. No version may change it:
// two versions would act at the same time.
const LeaseName = "etcd-operator.etcd.database.coreos.com"

const (
	// lookEvery is how often a Lease is read at most, for however many objects it matters.
	lookEvery = 10 * time.Second
	// forgetAfter is how long after a Lease last mattered what is known of it is dropped: many times the pause between two looks
	// at an object, so that by then it has been watched for long enough.
	forgetAfter = time.Hour
)

// leases is what is known of other operators' Leases. The zero value knows none.
type leases struct {
	mu  sync.Mutex
	all map[claim.Operator]*lease
}

// lease is one of them. Its mutex is held while it is read.
type lease struct {
	mu   sync.Mutex
	seen claim.Lease
	// asked is when it last mattered; the mutex of all Leases guards it.
	asked time.Time
}

// look returns what is known of a Lease, after reading it again if that is due. One that seems to be given up is read each time: the
// other operator may be back since the last look.
func (l *leases) look(ctx context.Context, live client.Reader, now clock.PassiveClock, of claim.Operator) (claim.Lease, error) {
	one := l.of(of, now.Now())
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.seen.Still() < claim.TakeOverAfter && !one.seen.Due(now.Now(), lookEvery) {
		return one.seen, nil
	}
	object := &coordinationv1.Lease{}
	err := live.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: of.Lease}, object)
	switch {
	case apierrors.IsForbidden(err):
		one.seen = one.seen.Refused(now.Now())
	case client.IgnoreNotFound(err) != nil:
		return claim.Lease{}, fmt.Errorf("read Lease %s: %w", of, err)
	default:
		one.seen = one.seen.Look(now.Now(), recordOf(object, of.UID))
	}
	return one.seen, nil
}

func (l *leases) of(operator claim.Operator, now time.Time) *lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.all, func(_ claim.Operator, one *lease) bool { return now.Sub(one.asked) >= forgetAfter })
	if l.all == nil {
		l.all = map[claim.Operator]*lease{}
	}
	if l.all[operator] == nil {
		l.all[operator] = &lease{}
	}
	l.all[operator].asked = now
	return l.all[operator]
}

// recordOf is the zero Record if the Lease does not exist, or has another UID.
func recordOf(l *coordinationv1.Lease, uid string) (r claim.Record) {
	if uid != "" && string(l.UID) != uid {
		return r
	}
	if l.Spec.HolderIdentity != nil {
		r.Holder = *l.Spec.HolderIdentity
	}
	if l.Spec.RenewTime != nil {
		r.Renewed = l.Spec.RenewTime.String()
	}
	return r
}
