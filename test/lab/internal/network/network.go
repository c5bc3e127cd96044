package network

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// EnsureHost makes the bridge and the fence on the host. It refuses a host that uses the bridge's range itself.
func EnsureHost(ctx context.Context) error {
	routes, err := output(ctx, nil, "ip", "-o", "route", "show", "root", bridgeCIDR)
	if err != nil {
		return err
	}
	for route := range strings.Lines(routes) {
		if !strings.Contains(route, " dev "+bridge+" ") {
			return fmt.Errorf("this machine already uses %s, which the lab needs: %s", bridgeCIDR, strings.TrimSpace(route))
		}
	}
	if err := run(ctx, hostPlan()); err != nil {
		return err
	}
	firewall, err := output(ctx, nil, "iptables", "--wait", "-S", "FORWARD")
	if err != nil {
		return err
	}
	if strings.Contains(firewall, "-P FORWARD ACCEPT") || strings.Contains(firewall, "-A "+forwardRule) {
		return nil
	}
	return run(ctx, []step{must("iptables --wait -I " + forwardRule)})
}

// EnsureNode makes the network of one node out of so many.
func EnsureNode(ctx context.Context, number, nodes int) error {
	return run(ctx, nodePlan(number, nodes))
}

// Remove removes the lab's network, as much of it as there is.
func Remove(ctx context.Context, nodes []string) error {
	// A machine on which no lab ever started may have no iptables, and has no rule.
	firewall, err := output(ctx, nil, "iptables", "--wait", "-S", "FORWARD")
	if err == nil && strings.Contains(firewall, "-A "+forwardRule) {
		if err := run(ctx, []step{must("iptables --wait -D " + forwardRule)}); err != nil {
			return err
		}
	}
	// Nor may it have nft; then nothing was cut.
	if cuts, err := Cuts(ctx); err == nil {
		for _, name := range cuts {
			if err := Mend(ctx, name); err != nil {
				return err
			}
		}
	}
	return run(ctx, removalPlan(nodes))
}

// Remains lists what is left of the lab's network on this machine.
func Remains(ctx context.Context) ([]string, error) {
	var found []string
	for _, query := range []struct{ args, mark string }{
		{"ip -o link show", " lab"},
		{"ip netns list", namespace},
		{"ip -o route show", fenceMetric},
		{"iptables --wait -S FORWARD", bridge},
		{"nft list tables ip", cutTable},
	} {
		out, err := output(ctx, nil, strings.Fields(query.args)...)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			if strings.Contains(line, query.mark) {
				found = append(found, strings.TrimSpace(line))
			}
		}
	}
	return found, nil
}

// SetLink plugs a node's cable in or pulls it.
func SetLink(ctx context.Context, node string, up bool) error {
	direction := "down"
	if up {
		direction = "up"
	}
	return run(ctx, []step{must("ip link set " + link(node) + " " + direction)})
}

// Linked says whether a node's cable is plugged in.
func Linked(ctx context.Context, node string) (bool, error) {
	out, err := output(ctx, nil, "ip", "-o", "link", "show", link(node), "up")
	if err != nil {
		return false, err
	}
	return strings.TrimSpace(out) != "", nil
}

func run(ctx context.Context, steps []step) error {
	for _, step := range steps {
		if _, err := output(ctx, nil, step.args...); err != nil && !step.optional {
			return err
		}
	}
	return nil
}

func output(ctx context.Context, input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) // #nosec G204 -- the plan's own commands
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
