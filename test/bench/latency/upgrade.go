package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// upgraded is what a client saw of upgrades that were measured.
type upgraded struct {
	operations, failures int64
	gaps                 []time.Duration
}

// upgrade goes up a minor version with a client at work that writes and reads every 20 ms.
func upgrade(ctx context.Context, c *harness.Cluster, r *results, kind string) (err error) {
	writer, err := c.NewWriter(ctx, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, writer.Stop(context.WithoutCancel(ctx))) }()
	if err := errors.Join(c.Settled(ctx, limit), sleep(ctx, calm)); err != nil {
		return err
	}
	if _, err := writer.Report(ctx); err != nil {
		return err
	}
	start := time.Now()
	if err := c.Upgrade(ctx, "3.7.3", limit); err != nil {
		return fmt.Errorf("upgrade: %w", err)
	}
	title := "3.6 to 3.7, 3 members, " + kind
	r.add(title, time.Since(start))
	report, err := writer.Report(ctx)
	if err != nil {
		return err
	}
	if report.Lost > 0 {
		return fmt.Errorf("%s: %d acknowledged writes were lost", title, report.Lost)
	}
	seen := r.upgrades[title]
	seen.operations += report.Operations
	seen.failures += report.Failures
	seen.gaps = append(seen.gaps, time.Duration(report.LongestGapMS)*time.Millisecond)
	r.upgrades[title] = seen
	return nil
}
