package policies

import (
	"context"
	"fmt"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
)

// Queue is the number of the kernel's queue. Each network namespace has its own.
const Queue = 4712

// rule hands over what begins a connection: all the rest of it follows. Without a process that takes the packets they pass.
var rule = fmt.Sprintf("FORWARD -m conntrack --ctstate NEW -j NFQUEUE --queue-num %d --queue-bypass", Queue)

// Divert makes the connections that a node forwards go through the process that takes the packets of Queue.
func Divert(ctx context.Context, node string) error { return network.EnsureRules(ctx, node, rule) }

// Restore undoes Divert.
func Restore(ctx context.Context, node string) error { return network.RemoveRules(ctx, node, rule) }
