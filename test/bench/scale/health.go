package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// health notes what the operator says of clusters.
type health struct {
	mu sync.Mutex
	// since is when each cluster first was healthy, and last what was last said of it.
	since map[types.NamespacedName]time.Time
	last  map[types.NamespacedName]string
	// changed is closed at each news.
	changed chan struct{}
}

func newHealth() *health {
	return &health{
		since: map[types.NamespacedName]time.Time{}, last: map[types.NamespacedName]string{}, changed: make(chan struct{}),
	}
}

func (h *health) see(c *v1beta2.EtcdCluster) {
	name := client.ObjectKeyFromObject(c)
	progress := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionProgressing)
	if progress == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[name] = progress.Reason + ": " + progress.Message
	healthy := progress.Reason == v1beta2.ReasonSpecReached && len(c.Status.Members.Ready) == int(c.Spec.Size)
	if _, known := h.since[name]; healthy && !known {
		h.since[name] = time.Now()
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// healthy waits until each of these clusters has been healthy, and returns when each first was.
func (h *health) healthy(ctx context.Context, names []types.NamespacedName, limit time.Duration) (
	[]time.Time, error,
) {
	var when []time.Time
	err := h.await(ctx, limit, func() string {
		for _, name := range names[len(when):] {
			t, ok := h.since[name]
			if !ok {
				return fmt.Sprintf("%d of %d clusters healthy: not %s (%s)", len(h.since), len(names), name, h.last[name])
			}
			when = append(when, t)
		}
		return ""
	})
	return when, err
}

// answered waits until the operator has said anything of a cluster.
func (h *health) answered(ctx context.Context, name types.NamespacedName, limit time.Duration) error {
	return h.await(ctx, limit, func() string {
		if h.last[name] == "" {
			return "no answer to " + name.String()
		}
		return ""
	})
}

// await waits until nothing is missing.
func (h *health) await(ctx context.Context, limit time.Duration, missing func() string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		h.mu.Lock()
		what, changed := missing(), h.changed
		h.mu.Unlock()
		if what == "" {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("after %s: %s: %w", limit, what, ctx.Err())
		}
	}
}
