package network

import (
	"context"
	"strings"
)

// EnsureRules adds those of some rules of iptables' table mangle, each a chain and what follows it, that a node's namespace lacks.
func EnsureRules(ctx context.Context, node string, rules ...string) error {
	for _, rule := range rules {
		if mangle(ctx, node, "-C", rule) == nil {
			continue
		}
		if err := mangle(ctx, node, "-A", rule); err != nil {
			return err
		}
	}
	return nil
}

// RemoveRules removes those of some rules that a node's namespace has.
func RemoveRules(ctx context.Context, node string, rules ...string) error {
	for _, rule := range rules {
		if mangle(ctx, node, "-C", rule) != nil {
			continue
		}
		if err := mangle(ctx, node, "-D", rule); err != nil {
			return err
		}
	}
	return nil
}

func mangle(ctx context.Context, node, action, rule string) error {
	_, err := output(ctx, nil, strings.Fields(inside(node)+"iptables --wait -t mangle "+action+" "+rule)...)
	return err
}
