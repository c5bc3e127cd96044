package network

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func commands(steps []step) []string {
	lines := make([]string, 0, len(steps))
	for _, step := range steps {
		lines = append(lines, strings.Join(step.args, " "))
	}
	return lines
}

func TestNodePlan(t *testing.T) {
	got := commands(nodePlan(2, 3))
	for _, want := range []string{
		"ip netns add lab-n2",
		"ip link add lab-n2 type veth peer name eth0 netns lab-n2",
		"ip -n lab-n2 addr replace 172.30.0.12/24 dev eth0",
		"ip -n lab-n2 route replace 10.244.1.0/24 via 172.30.0.11",
		"ip -n lab-n2 route replace 10.244.3.0/24 via 172.30.0.13",
		"ip -n lab-n2 route replace unreachable default metric 9999",
		"ip route replace 10.244.2.0/24 via 172.30.0.12 dev lab0",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("the plan lacks %q:\n%s", want, strings.Join(got, "\n"))
		}
	}
	if own := "ip -n lab-n2 route replace 10.244.2.0/24 via 172.30.0.12"; slices.Contains(got, own) {
		t.Errorf("a node routes its own pods elsewhere: %q", own)
	}
}

func TestNothingLeavesTheMachine(t *testing.T) {
	host := commands(hostPlan())
	for _, cidr := range []string{ServiceCIDR, PodCIDR} {
		if want := "ip route replace unreachable " + cidr + " metric 9999"; !slices.Contains(host, want) {
			t.Errorf("the host's plan lacks %q", want)
		}
	}
	for _, line := range append(host, commands(nodePlan(1, 3))...) {
		if strings.Contains(line, "default") && !strings.Contains(line, "unreachable default") {
			t.Errorf("a default route leads out: %q", line)
		}
	}
}

func TestRemovalUndoesThePlan(t *testing.T) {
	removal := strings.Join(commands(removalPlan([]string{"n1"})), "\n")
	for _, line := range append(commands(hostPlan()), commands(nodePlan(1, 1))...) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "ip link add"):
			if !strings.Contains(removal, "ip link del "+fields[3]) {
				t.Errorf("%q is not undone", line)
			}
		case strings.HasPrefix(line, "ip netns add"):
			if !strings.Contains(removal, "ip netns del "+fields[3]) {
				t.Errorf("%q is not undone", line)
			}
		case strings.HasPrefix(line, "ip route replace unreachable"):
			if !strings.Contains(removal, strings.Replace(line, "replace", "del", 1)) {
				t.Errorf("%q is not undone", line)
			}
		}
	}
	for _, step := range removalPlan([]string{"n1"}) {
		if !step.optional {
			t.Errorf("removing what is not there fails: %v", step.args)
		}
	}
}

func TestAddressesOfAllNodes(t *testing.T) {
	bridgeRange, pods := netip.MustParsePrefix(bridgeCIDR), netip.MustParsePrefix(PodCIDR)
	services := netip.MustParsePrefix(ServiceCIDR)
	seen := map[string]bool{HostIP: true}
	for number := 1; number <= MaxNodes; number++ {
		ip := NodeIP(number)
		if seen[ip] || !bridgeRange.Contains(netip.MustParseAddr(ip)) {
			t.Errorf("node %d has address %s, taken or outside %s", number, ip, bridgeCIDR)
		}
		seen[ip] = true
		if own := netip.MustParsePrefix(NodePods(number)); !pods.Overlaps(own) || own.Overlaps(services) {
			t.Errorf("the pods of node %d are in %s", number, own)
		}
		// The kernel's limit for the name of a network interface.
		const nameMax = 15
		if name := link(NodeName(number)); len(name) > nameMax {
			t.Errorf("the interface name %s is too long", name)
		}
	}
	for _, ip := range []string{DNSServiceIP, APIServiceIP} {
		if !services.Contains(netip.MustParseAddr(ip)) {
			t.Errorf("%s is no Service address", ip)
		}
	}
}

func TestPartitionRules(t *testing.T) {
	const want = `table ip lab_partition_n3
delete table ip lab_partition_n3
table ip lab_partition_n3 {
	set peer { type ipv4_addr; flags interval; elements = { 172.30.0.13, 10.244.3.0/24 }; }
	chain in { type filter hook prerouting priority -300; ip saddr @peer drop; }
	chain out { type filter hook postrouting priority 300; ip daddr @peer drop; }
}
`
	if got := partitionRules(3); got != want {
		t.Errorf("partitionRules(3) =\n%s\nwant\n%s", got, want)
	}
}

func TestCutRules(t *testing.T) {
	const want = `table ip lab_cut_minio
delete table ip lab_cut_minio
table ip lab_cut_minio {
	chain in { type filter hook input priority -300; ip daddr 172.30.0.1 tcp dport 9000 quota over 1024 bytes reject with tcp reset; }
}
`
	if got := cutRules("minio", 9000, 1024); got != want {
		t.Errorf("cutRules =\n%s\nwant\n%s", got, want)
	}
}
