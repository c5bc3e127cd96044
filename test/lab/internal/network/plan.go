package network

import (
	"fmt"
	"strings"
)

// Addresses of the lab.
const (
	// HostIP is the host's address on the bridge, where the control plane and the registry listen.
	HostIP = "172.30.0.1"
	// PodCIDR holds the pods of all nodes.
	PodCIDR = "10.244.0.0/16"
	// ServiceCIDR holds the Services' addresses.
	ServiceCIDR = "10.96.0.0/16"
	// DNSServiceIP is the address of the cluster's DNS Service.
	DNSServiceIP = "10.96.0.10"
	// APIServiceIP is the address of the Service "kubernetes".
	APIServiceIP = "10.96.0.1"
	// NamespaceDir holds a file for each named network namespace. "ip netns add" makes it and mounts it onto itself.
	NamespaceDir = "/run/netns"
	// MaxNodes is how many nodes the address plan has room for.
	MaxNodes = 50
)

// Names of what the lab makes on the host.
const (
	bridge      = "lab0"
	bridgeCIDR  = "172.30.0.0/24"
	namespace   = "lab-"
	fenceMetric = "9999"
)

// NodeName returns the name of the node with a number, from 1.
func NodeName(number int) string { return fmt.Sprintf("n%d", number) }

// NodeIP returns a node's address on the bridge.
func NodeIP(number int) string { return fmt.Sprintf("172.30.0.%d", 10+number) }

// NodePods returns the range that a node's pods get their addresses from.
func NodePods(number int) string { return fmt.Sprintf("10.244.%d.0/24", number) }

// Namespace returns the name of a node's network namespace.
func Namespace(node string) string { return namespace + node }

// NamespaceFile returns the file that a node's network namespace is entered through.
func NamespaceFile(node string) string { return NamespaceDir + "/" + Namespace(node) }

// link returns the host's end of a node's cable.
func link(node string) string { return "lab-" + node }

// step is one command. An optional step may fail: it makes something that may be there, or removes something that
// may not be.
type step struct {
	args     []string
	optional bool
}

func must(command string) step  { return step{args: strings.Fields(command)} }
func maybe(command string) step { return step{args: strings.Fields(command), optional: true} }

// hostPlan makes the bridge and the fence around the cluster's ranges on the host.
func hostPlan() []step {
	return []step{
		// Without it Services do not work between pods of one node. It may be built into the kernel.
		maybe("modprobe br_netfilter"),
		maybe("ip link add " + bridge + " type bridge"),
		must("ip addr replace " + HostIP + "/24 dev " + bridge),
		must("ip link set " + bridge + " up"),
		must("ip route replace unreachable " + ServiceCIDR + " metric " + fenceMetric),
		must("ip route replace unreachable " + PodCIDR + " metric " + fenceMetric),
	}
}

// forwardRule lets the nodes speak to each other on a host whose firewall drops what it forwards, as Docker's does.
const forwardRule = "FORWARD -i " + bridge + " -o " + bridge + " -j ACCEPT"

// nodePlan makes a node's namespace, its cable to the bridge, and the routes to and from its pods.
func nodePlan(number, nodes int) []step {
	node := NodeName(number)
	inside := "ip -n " + Namespace(node) + " "
	enter := "nsenter --net=" + NamespaceFile(node) + " "
	steps := []step{
		maybe("ip netns add " + Namespace(node)),
		maybe("ip link add " + link(node) + " type veth peer name eth0 netns " + Namespace(node)),
		must("ip link set " + link(node) + " master " + bridge + " up"),
		must(inside + "addr replace " + NodeIP(number) + "/24 dev eth0"),
		must(inside + "link set eth0 up"),
		must(inside + "link set lo up"),
		must(enter + "sysctl -qw net.ipv4.ip_forward=1"),
		// Without it a pod that reaches a pod of its own node through a Service gets answers from the wrong address.
		maybe(enter + "sysctl -qw net.bridge.bridge-nf-call-iptables=1"),
	}
	for other := 1; other <= nodes; other++ {
		if other != number {
			steps = append(steps, must(inside+"route replace "+NodePods(other)+" via "+NodeIP(other)))
		}
	}
	return append(steps,
		must(inside+"route replace unreachable default metric "+fenceMetric),
		must("ip route replace "+NodePods(number)+" via "+NodeIP(number)+" dev "+bridge),
	)
}

// removalPlan removes all that hostPlan and nodePlan made, whether or not it is there.
func removalPlan(nodes []string) []step {
	var steps []step
	for _, node := range nodes {
		steps = append(steps,
			maybe("ip link del "+link(node)),
			maybe("ip netns del "+Namespace(node)))
	}
	return append(steps,
		maybe("ip link del "+bridge),
		maybe("ip route del unreachable "+ServiceCIDR+" metric "+fenceMetric),
		maybe("ip route del unreachable "+PodCIDR+" metric "+fenceMetric))
}
