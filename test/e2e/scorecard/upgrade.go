package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	// oldVersion is one minor version below the operator's default.
	oldVersion = "3.5.35"
	// unsupportedVersion is one that no operator of this kind runs.
	unsupportedVersion = "3.2.13"
	// longestPause is how long no one may be able to write while members are restarted one after the other.
	longestPause = 10 * time.Second
)

// seamlessUpgrades takes a cluster to the next minor version of etcd while a client writes.
func seamlessUpgrades(ctx context.Context, t *trial) error {
	c, err := t.cluster(ctx, &v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{Size: 3, Version: oldVersion}})
	if err != nil {
		return err
	}
	if err := c.Settled(ctx, limit); err != nil {
		return err
	}
	etcd, err := connect(ctx, c)
	if err != nil {
		return err
	}
	w := startWriter(ctx, etcd)
	err = c.Upgrade(ctx, version.DefaultEtcd, limit)
	if err := errors.Join(err, w.stop()); err != nil {
		return err
	}
	t.note("%s to %s: %d writes, all there, longest pause %v", oldVersion, version.DefaultEtcd, w.written,
		w.pause.Round(time.Millisecond))
	if w.pause > longestPause {
		return fmt.Errorf("for %v nothing could be written; it should be less than %v", w.pause, longestPause)
	}
	return t.refuses(ctx, c)
}

// refuses asks for a version that there is no way to, and wants to be told.
func (t *trial) refuses(ctx context.Context, c *harness.Cluster) error {
	err := c.Edit(ctx, func(s *v1beta2.EtcdClusterSpec) { s.Version = unsupportedVersion })
	if err != nil {
		return err
	}
	if err := c.Says(ctx, v1beta2.ConditionProgressing, v1beta2.ReasonUnsupportedVersion, limit); err != nil {
		return err
	}
	t.note("%s is refused, with a reason", unsupportedVersion)
	return nil
}
