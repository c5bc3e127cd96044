package link

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

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
	for _, rule := range rules() {
		if iptables(ctx, node, "-C", rule) == nil {
			continue
		}
		if err := iptables(ctx, node, "-A", rule); err != nil {
			return err
		}
	}
	return nil
}

// Restore undoes Divert.
func Restore(ctx context.Context, node string) error {
	for _, rule := range rules() {
		if iptables(ctx, node, "-C", rule) != nil {
			continue
		}
		if err := iptables(ctx, node, "-D", rule); err != nil {
			return err
		}
	}
	return nil
}

func iptables(ctx context.Context, node, action, rule string) error {
	args := []string{"--net=" + network.NamespaceFile(node), "iptables", "--wait", "-t", "mangle", action}
	args = append(args, strings.Fields(rule)...)
	out, err := exec.CommandContext(ctx, "nsenter", args...).CombinedOutput() // #nosec G204 -- own commands
	if err != nil {
		return fmt.Errorf("iptables %s %s on node %s: %w: %s",
			action, rule, node, errors.Join(context.Cause(ctx), err), strings.TrimSpace(string(out)))
	}
	return nil
}

// Ready returns nil once a process, in the network namespace of a node, takes the packets.
func Ready(pid int) error {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "net", "netfilter", "nfnetlink_queue"))
	if err != nil {
		return fmt.Errorf("list the queues of packets: %w", err)
	}
	return findQueue(string(data))
}

// findQueue looks for the queue in the kernel's list, of which the first column is the number.
func findQueue(list string) error {
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == strconv.Itoa(Queue) {
			return nil
		}
	}
	return errors.New("nobody takes the packets")
}
