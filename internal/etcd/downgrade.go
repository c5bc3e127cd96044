package etcd

import (
	"context"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
)

// EnableDowngrade tells the cluster to go down to a minor version such as "3.6": exactly one below its own. It is no
// error if it has been told so. While the cluster has not reached the version that all of its members run, or is told
// another one, the error is ErrNotYet.
func (s *Session) EnableDowngrade(ctx context.Context, version string) error {
	return s.change(ctx, "enable the downgrade to "+version, s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		return c.EnableDowngrade(ctx, version)
	})
}

// CancelDowngrade takes EnableDowngrade back. It is no error if nothing is enabled.
func (s *Session) CancelDowngrade(ctx context.Context) error {
	return s.change(ctx, "cancel the downgrade", s.voters, func(ctx context.Context, c *etcdclient.Client) error {
		return c.CancelDowngrade(ctx)
	})
}
