package claims

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

// stayEvery is how often this operator looks whether its Lease is still the one that it has claimed with. With the two seconds
// in which leader election makes a Lease again that was deleted, and the half minute in which a process ends, it is less than
// claim.Patience, after which another operator takes its place.
const stayEvery = 5 * time.Second

// own is the UID of this operator's Lease, from when it was first seen until the process ends.
type own struct {
	mu  sync.Mutex
	uid string
	at  time.Time
}

// self is this operator with the UID of its Lease, without as long as that was not seen.
func (k *Keeper) self(ctx context.Context) (claim.Operator, error) {
	self := k.Self
	if self == (claim.Operator{}) {
		return self, nil
	}
	k.own.mu.Lock()
	defer k.own.mu.Unlock()
	now := k.Clock.Now()
	if k.own.uid == "" && (k.own.at.IsZero() || now.Sub(k.own.at) >= lookEvery) {
		uid, err := k.ownUID(ctx)
		if err != nil && !apierrors.IsForbidden(err) {
			return self, err
		}
		k.own.uid, k.own.at = uid, now
	}
	self.UID = k.own.uid
	return self, nil
}

// ownUID is that of the Lease as it is now, empty if there is none.
func (k *Keeper) ownUID(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	err := k.Live.Get(ctx, client.ObjectKey{Namespace: k.Self.Namespace, Name: k.Self.Lease}, lease)
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("read Lease %s: %w", k.Self, err)
	}
	return string(lease.UID), nil
}

// Stay returns once another Lease is in the place of this operator's: the process must end then, for its claims are void. It
// need not when it cannot be read: who cannot cannot make it again either, and so loses it.
func (k *Keeper) Stay(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, stayEvery, true, func(ctx context.Context) (bool, error) {
		self, err := k.self(ctx)
		if err != nil || self.UID == "" {
			return false, nil //nolint:nilerr // it is looked at again
		}
		uid, err := k.ownUID(ctx)
		return err == nil && uid != "" && uid != self.UID, nil
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it ends anyway
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("Lease %s was deleted and recreated: another operator may take over what was claimed with the old one, so this "+
		"process exits, and the next one claims it again", k.Self)
}
