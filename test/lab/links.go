package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/link"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
)

// linkComponent is the process that holds the packets of a node with a slow link.
func linkComponent(node string) string { return node + "-link" }

// SlowLink makes all packets that a node and its pods send and receive over the node's cable late by a latency, at
// most a minute, and loses a share of them, from 0 to 1. Both hold for each direction, so a round trip takes twice the
// latency more. Packets between pods of the node are spared. FastLink and HealNode undo it.
func (f Faults) SlowLink(ctx context.Context, name string, latency time.Duration, loss float64) error {
	if _, err := f.lab.node(name); err != nil {
		return err
	}
	if err := (link.Fault{Latency: latency, Loss: loss}).Check(); err != nil {
		return err
	}
	if err := f.FastLink(ctx, name); err != nil {
		return err
	}
	spec := f.lab.hostSpec(linkComponent(name), filepath.Join(f.lab.state.Join("bin"), "lab"), "link",
		"--latency="+latency.String(), "--loss="+strconv.FormatFloat(loss, 'g', -1, 64))
	spec.Enter = []string{"nsenter", "--net=" + network.NamespaceFile(name)}
	record, err := process.Start(spec)
	if err != nil {
		return err
	}
	if err := record.WaitReady(ctx, func(context.Context) error { return network.QueueTaken(record.PID, link.Queue) }); err != nil {
		return err
	}
	return link.Divert(ctx, name)
}

// FastLink undoes SlowLink.
func (f Faults) FastLink(ctx context.Context, name string) error {
	if _, err := f.lab.node(name); err != nil {
		return err
	}
	record, err := process.Read(f.lab.recordFile(linkComponent(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	// A node that never started has no namespace, and no rules.
	if err := link.Restore(ctx, name); err != nil {
		return err
	}
	if err := process.Kill(ctx, record); err != nil {
		return err
	}
	if err := os.Remove(f.lab.recordFile(linkComponent(name))); err != nil {
		return fmt.Errorf("forget the slow link of node %s: %w", name, err)
	}
	return nil
}
