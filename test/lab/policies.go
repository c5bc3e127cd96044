package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/policies"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/process"
)

// NetworkPolicies has NetworkPolicies enforced, which the lab's network itself does not.
type NetworkPolicies struct{ lab *Lab }

// NetworkPolicies returns what enforces NetworkPolicies in the lab, whether or not it runs.
func (l *Lab) NetworkPolicies() NetworkPolicies { return NetworkPolicies{l} }

// policiesComponent is the process that enforces NetworkPolicies on a node.
func policiesComponent(node string) string { return node + "-policies" }

// Start has NetworkPolicies enforced on all nodes, for connections that begin from now on, until Stop or Down. The program is built first
// if it never was. Out gets lines that tell of progress; nil discards them.
func (p NetworkPolicies) Start(ctx context.Context, out io.Writer) error {
	builder, err := builder(out)
	if err != nil {
		return err
	}
	program := filepath.Join(p.lab.state.Join("bin"), "policies")
	if err := buildOwn(ctx, builder.Root, program); err != nil {
		return err
	}
	for _, node := range p.lab.Nodes() {
		spec := p.lab.hostSpec(policiesComponent(node), program, "--pki="+p.lab.state.PKI())
		spec.Enter = []string{"nsenter", "--net=" + network.NamespaceFile(node)}
		record, err := process.Ensure(spec)
		if err != nil {
			return err
		}
		ready := func(context.Context) error { return network.QueueTaken(record.PID, policies.Queue) }
		if err := record.WaitReady(ctx, ready); err != nil {
			return err
		}
		if err := policies.Divert(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

// Stop undoes Start.
func (p NetworkPolicies) Stop(ctx context.Context) error {
	for _, node := range p.lab.Nodes() {
		file := p.lab.recordFile(policiesComponent(node))
		record, err := process.Read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		if err := policies.Restore(ctx, node); err != nil {
			return err
		}
		if err := process.Kill(ctx, record); err != nil {
			return err
		}
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("forget what enforces NetworkPolicies on node %s: %w", node, err)
		}
	}
	return nil
}

// restart starts what should run.
func (p NetworkPolicies) restart(ctx context.Context, out io.Writer) error {
	for _, node := range p.lab.Nodes() {
		if _, err := process.Read(p.lab.recordFile(policiesComponent(node))); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		return p.Start(ctx, out)
	}
	return nil
}
