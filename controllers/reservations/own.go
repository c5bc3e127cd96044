package reservations

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

// stayEvery is how often this operator checks that its Lease is still the one in its reservations. Together with the two seconds
// in which leader election recreates a deleted Lease, and the half minute in which a process exits, it is less than
// claim.TakeOverAfter, after which another operator takes over.
const stayEvery = 5 * time.Second

// own is the UID of this operator's Lease, from when it was first seen until the process exits.
type own struct {
	mu  sync.Mutex
	uid string
	at  time.Time
}

// self is this operator with the UID of its Lease, or without it until that has been seen.
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

// Stay returns once this operator's Lease has been replaced by another one: the process must exit then, because its reservations
// are void. It need not if the Lease cannot be read: without that right it cannot be recreated either, and leadership is lost.
func (k *Keeper) Stay(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, stayEvery, true, func(ctx context.Context) (bool, error) {
		self, err := k.self(ctx)
		if err != nil || self.UID == "" {
			return false, nil //nolint:nilerr // it is checked again
		}
		uid, err := k.ownUID(ctx)
		return err == nil && uid != "" && uid != self.UID, nil
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the process exits anyway
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("the Lease %s was deleted and recreated: another operator may take over what was reserved with the old one, so this "+
		"process exits, and the next one reserves it again", k.Self)
}
