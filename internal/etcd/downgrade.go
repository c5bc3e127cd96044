package etcd

import (
	"context"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
)

// EnableDowngrade enables the downgrade to a minor version such as "3.6": exactly one below the cluster's. It is no error if it is
// enabled already. While the cluster has not reached the version that all of its members run, or another downgrade is enabled, the
// error is ErrNotYet.
func (s *Session) EnableDowngrade(ctx context.Context, version string) error {
	return s.change(ctx, "enable the downgrade to "+version, s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		return c.EnableDowngrade(ctx, version)
	})
}

// CancelDowngrade cancels a downgrade. It is no error if none is enabled.
func (s *Session) CancelDowngrade(ctx context.Context) error {
	return s.change(ctx, "cancel the downgrade", s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		return c.CancelDowngrade(ctx)
	})
}
