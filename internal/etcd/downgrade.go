package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// EnableDowngrade tells the cluster to go down to a minor version such as "3.6": exactly one below its own. It is no
// error if it has been told so. While the cluster has not reached the version that all of its members run, or is told
// another one, the error is ErrNotYet.
func (s *Session) EnableDowngrade(ctx context.Context, version string) error {
	return s.change(ctx, "enable the downgrade to "+version, s.voters,
		func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Downgrade(ctx, clientv3.DowngradeEnable, version+".0")
			if errors.Is(err, rpctypes.ErrInvalidDowngradeTargetVersion) {
				err = fmt.Errorf("%w: the cluster's version is not the next one above: %w", ErrNotYet, err)
			}
			return err
		}, rpctypes.ErrDowngradeInProcess)
}

// CancelDowngrade takes EnableDowngrade back. It is no error if nothing is enabled.
func (s *Session) CancelDowngrade(ctx context.Context) error {
	return s.change(ctx, "cancel the downgrade", s.voters, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Downgrade(ctx, clientv3.DowngradeCancel, "")
		return err
	}, rpctypes.ErrNoInflightDowngrade)
}
