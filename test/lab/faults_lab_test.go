//go:build lab

package lab_test

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/network"
)

// oneWay lets only the packets of one direction pass, and tells it from what arrives.
func oneWay(t *testing.T, running *lab.Lab) {
	const first, second = 1, 2
	if err := running.Faults().PartitionOneWay(t.Context(), "n1", "n2"); err != nil {
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
	if err := running.Faults().HealNode(t.Context(), "n2"); err != nil {
		t.Fatal(err)
	}
	if !arrives(t, first, second) {
		t.Error("it outlives the healing")
	}
	healthy(t, running)
}

// arrives says whether a datagram from one node reaches another: its kernel counts those to ports that no one has.
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

// apiServer takes the API away and gives it back; what runs on the nodes does not notice.
func apiServer(t *testing.T, running *lab.Lab) {
	const pod = "--output=jsonpath={.metadata.uid} {.status.containerStatuses[0].containerID}"
	before, others := kubectl(t, running, "", "get", "pod", "pod", pod), pids(t, running)
	if err := running.Faults().StopAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	status, err := running.Status(t.Context())
	if err != nil || status.API == nil {
		t.Errorf("the API is there: %+v, %v", status, err)
	}
	for range 2 { // Starting what runs does nothing.
		if err := running.Faults().StartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	healthy(t, running)
	if after := kubectl(t, running, "", "get", "pod", "pod", pod); after != before {
		t.Errorf("the pod was %s, and is %s", before, after)
	}
	changed := 0
	for i, pid := range pids(t, running) {
		if pid != others[i] {
			changed++
		}
	}
	if changed != 3 { // the API server, the controller manager and the scheduler
		t.Errorf("%d processes of the lab are new", changed)
	}
	// The controllers found the API again: an account for a new namespace is theirs to make.
	kubectl(t, running, "", "create", "namespace", "later")
	kubectl(t, running, "", "wait", "--for=create", "serviceaccount/default", "--namespace=later", "--timeout=60s")
	kubectl(t, running, "", "delete", "namespace", "later")
}

// slowLink measures the way between two nodes.
func slowLink(t *testing.T, running *lab.Lab) {
	const latency = 100 * time.Millisecond
	connect := func() time.Duration {
		began := time.Now()
		inside(t, 1, "exec 3<>/dev/tcp/"+network.NodeIP(2)+"/10250")
		return time.Since(began)
	}
	if err := running.Faults().SlowLink(t.Context(), "n2", latency, 0); err != nil {
		t.Fatal(err)
	}
	if took := connect(); took < 2*latency {
		t.Errorf("over the slow link a round trip took %v", took)
	}
	status, err := running.Status(t.Context())
	if err != nil || !status.Nodes[1].Slow || status.Healthy() {
		t.Errorf("the status is %+v, %v", status, err)
	}
	if err := running.Faults().SlowLink(t.Context(), "n2", 0, 1); err != nil {
		t.Fatal(err)
	}
	if arrives(t, 1, 2) {
		t.Error("a link that loses everything does not")
	}
	if err := running.Faults().HealNode(t.Context(), "n2"); err != nil {
		t.Fatal(err)
	}
	if took := connect(); took > latency {
		t.Errorf("over the healed link a round trip took %v", took)
	}
	healthy(t, running)
}

// jumpClock moves the clock there and back, and compares it with one that does not move.
func jumpClock(t *testing.T, running *lab.Lab) {
	const by, slack = 90 * time.Second, time.Second
	began := time.Now()
	// What a clock shows that moves, less what one shows that does not.
	moved := func() time.Duration {
		now := time.Now()
		return now.Round(0).Sub(began.Round(0)) - now.Sub(began)
	}
	expect := func(want time.Duration) {
		t.Helper()
		if got := moved(); (got - want).Abs() > slack {
			t.Errorf("the clock moved by %v, want %v", got, want)
		}
	}
	for _, jump := range []time.Duration{by, -2 * by} {
		if err := running.Faults().JumpClock(t.Context(), jump); err != nil {
			t.Fatal(err)
		}
	}
	expect(-by)
	for range 2 { // Restoring what is right does nothing.
		if err := running.Faults().RestoreClock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	expect(0)
	healthy(t, running)
}
