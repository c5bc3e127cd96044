package harness

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Upgrade asks for another version and waits until every member runs it and is healthy.
func (c *Cluster) Upgrade(ctx context.Context, version string, limit time.Duration) error {
	if err := c.Edit(ctx, func(s *v1beta2.EtcdClusterSpec) { s.Version = version }); err != nil {
		return err
	}
	return c.Updated(ctx, limit)
}

// Updated waits until every member is as the spec asks, and healthy.
func (c *Cluster) Updated(ctx context.Context, limit time.Duration) error {
	err := Await(ctx, c.Name+" updated", limit, func(ctx context.Context) (string, bool) {
		object, err := c.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		s := object.Status
		want := strings.TrimPrefix(object.Spec.Version, "v") // or the minor release of it
		done := s.ObservedGeneration == object.Generation && s.UpdatedMembers == object.Spec.Size &&
			int(object.Spec.Size) == len(s.MemberStatuses)
		for _, m := range s.MemberStatuses {
			done = done && (want == "" || m.Version == want || strings.HasPrefix(m.Version, want+"."))
		}
		return fmt.Sprintf("%d updated, %s; %s", s.UpdatedMembers, s.CurrentVersion, Words(object)), done
	})
	if err != nil {
		return err
	}
	return c.Healthy(ctx, limit)
}
