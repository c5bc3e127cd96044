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

// health notes when clusters reach what their specs ask for.
type health struct {
	mu sync.Mutex
	// since is when each cluster first was healthy.
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
	h.mu.Lock()
	defer h.mu.Unlock()
	if progress == nil {
		return
	}
	h.last[name] = progress.Reason + ": " + progress.Message
	healthy := progress.Reason == v1beta2.ReasonSpecReached && len(c.Status.Members.Ready) == int(c.Spec.Size)
	if _, known := h.since[name]; healthy && !known {
		h.since[name] = time.Now()
		close(h.changed)
		h.changed = make(chan struct{})
	}
}

// await waits until each of these clusters has been healthy, and returns when each first was.
func (h *health) await(ctx context.Context, names []types.NamespacedName, limit time.Duration) ([]time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		h.mu.Lock()
		var when []time.Time
		missing := ""
		for _, name := range names {
			if t, ok := h.since[name]; ok {
				when = append(when, t)
			} else {
				missing = fmt.Sprintf("%s (%s)", name, h.last[name])
			}
		}
		changed := h.changed
		h.mu.Unlock()
		if missing == "" {
			return when, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d clusters healthy after %s: not %s", len(when), len(names), limit, missing)
		}
	}
}
