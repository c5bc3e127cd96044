package network

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Prefixes of the tables, in a node's namespace, whose rules cut it off from a peer: from all of it, or only what it
// sends there. The peer's name follows.
const (
	partitionTable = "lab_partition_"
	silenceTable   = "lab_silence_"
)

// Partition drops all packets between two nodes, given by their numbers, and their pods, in both directions.
func Partition(ctx context.Context, a, b int) error {
	for _, side := range [][2]int{{a, b}, {b, a}} {
		if err := applyRules(ctx, NodeName(side[0]), partitionRules(side[1])); err != nil {
			return err
		}
	}
	return nil
}

// Silence drops all packets that one node and its pods send to another and its pods; what that one sends arrives.
func Silence(ctx context.Context, from, to int) error {
	return applyRules(ctx, NodeName(from), silenceRules(to))
}

// Unpartition ends all partitions, among all the nodes, that some of them are part of.
func Unpartition(ctx context.Context, all []string, some ...string) error {
	for _, node := range all {
		names, err := tables(ctx, node)
		if err != nil {
			return err
		}
		for _, prefix := range []string{partitionTable, silenceTable} {
			for _, peer := range peers(names, prefix) {
				if !slices.Contains(some, node) && !slices.Contains(some, peer) {
					continue
				}
				if err := run(ctx, []step{must(inside(node) + "nft delete table ip " + prefix + peer)}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Partitions lists the peers that a node is cut off from, and those that only its packets do not reach.
func Partitions(ctx context.Context, node string) (cutOff, silentTo []string, err error) {
	names, err := tables(ctx, node)
	if err != nil {
		return nil, nil, err
	}
	return peers(names, partitionTable), peers(names, silenceTable), nil
}

// tables lists the tables of rules in a node's namespace. A node without a namespace has none.
func tables(ctx context.Context, node string) ([]string, error) {
	if _, err := os.Stat(NamespaceFile(node)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return listTables(ctx, strings.Fields(inside(node))...)
}

// listTables lists the tables of rules that "nft", run by a command, sees.
func listTables(ctx context.Context, command ...string) ([]string, error) {
	out, err := output(ctx, nil, append(command, "nft", "list", "tables", "ip")...)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(out) {
		names = append(names, strings.TrimPrefix(strings.TrimSpace(line), "table ip "))
	}
	return names, nil
}

func peers(tables []string, prefix string) []string {
	var found []string
	for _, table := range tables {
		if peer, ok := strings.CutPrefix(table, prefix); ok {
			found = append(found, peer)
		}
	}
	return found
}

func applyRules(ctx context.Context, node, rules string) error {
	_, err := output(ctx, []byte(rules), append(strings.Fields(inside(node)), "nft", "-f", "-")...)
	return err
}

// inside is the start of a command that runs in a node's network namespace.
func inside(node string) string { return "nsenter --net=" + NamespaceFile(node) + " " }

// partitionRules drops all packets between this node, its pods, and a peer node and its pods.
func partitionRules(peer int) string {
	return fmt.Sprintf(`table ip %[1]s
delete table ip %[1]s
table ip %[1]s {
	set peer { type ipv4_addr; flags interval; elements = { %[2]s, %[3]s }; }
	chain in { type filter hook prerouting priority -300; ip saddr @peer drop; }
	chain out { type filter hook postrouting priority 300; ip daddr @peer drop; }
}
`, partitionTable+NodeName(peer), NodeIP(peer), NodePods(peer))
}

// silenceRules drops all packets from this node and its pods to a peer node and its pods.
func silenceRules(peer int) string {
	return fmt.Sprintf(`table ip %[1]s
delete table ip %[1]s
table ip %[1]s {
	chain out { type filter hook postrouting priority 300; ip daddr { %[2]s, %[3]s } drop; }
}
`, silenceTable+NodeName(peer), NodeIP(peer), NodePods(peer))
}
