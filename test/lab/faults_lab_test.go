//go:build lab

package lab_test

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
)

// oneWay lets only the packets of one direction pass, and tells it from what arrives.
func oneWay(t *testing.T, running *lab.Lab) {
	const first, second = 1, 2
	if err := running.PartitionOneWay(t.Context(), "n1", "n2"); err != nil {
		t.Fatal(err)
	}
	if arrives(t, first, second) {
		t.Error("what n1 sends reaches n2")
	}
	if !arrives(t, second, first) {
		t.Error("what n2 sends does not reach n1")
	}
	status, err := running.Status(t.Context())
	if err != nil || status.Healthy() || fmt.Sprint(status.Nodes[0].SilentTo) != "[n2]" {
		t.Errorf("the status is %+v, %v", status.Nodes, err)
	}
	if err := running.HealNode(t.Context(), "n2"); err != nil {
		t.Fatal(err)
	}
	if !arrives(t, first, second) {
		t.Error("it outlives the healing")
	}
	healthy(t, running)
}

// arrives says whether a datagram from one node reaches another: its kernel counts those to ports that nobody has.
func arrives(t *testing.T, from, to int) bool {
	t.Helper()
	before := unexpected(t, to)
	const unused = 9
	inside(t, from, fmt.Sprintf("for i in 1 2 3; do echo > /dev/udp/%s/%d; done; true", network.NodeIP(to), unused))
	return unexpected(t, to) > before
}

func unexpected(t *testing.T, node int) int {
	t.Helper()
	const counter = 1
	fields := strings.Fields(inside(t, node, "nstat -asz UdpNoPorts | grep UdpNoPorts"))
	count, err := strconv.Atoi(fields[counter])
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// inside runs a script in the network of a node.
func inside(t *testing.T, node int, script string) string {
	t.Helper()
	file := network.NamespaceFile(network.NodeName(node))
	out, err := exec.CommandContext(t.Context(), "nsenter", "--net="+file, "bash", "-c", script).Output()
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return string(out)
}
