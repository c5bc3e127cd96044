package link

import (
	"context"
	"fmt"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
)

// rules hand over what a node sends and receives over its cable, be it its own or its pods'. Without a process that
// takes the packets they pass. The kernel has no such statement for nftables itself, only for iptables' targets.
func rules() []string {
	target := fmt.Sprintf("-j NFQUEUE --queue-num %d --queue-bypass", Queue)
	return []string{"PREROUTING -i eth0 " + target, "POSTROUTING -o eth0 " + target}
}

// Divert makes a node's packets go through Serve.
func Divert(ctx context.Context, node string) error {
	return network.EnsureRules(ctx, node, rules()...)
}

// Restore undoes Divert.
func Restore(ctx context.Context, node string) error {
	return network.RemoveRules(ctx, node, rules()...)
}
