package enforce

import (
	"net/netip"

	"github.com/mattfenwick/cyclonus/pkg/matcher"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// view is what the cluster says of its pods and NetworkPolicies at one time.
type view struct {
	policy *matcher.Policy
	pods   map[netip.Addr]*corev1.Pod
	// namespaces are their labels.
	namespaces map[string]map[string]string
}

func newView(policies []networkingv1.NetworkPolicy, pods []corev1.Pod, namespaces []corev1.Namespace) *view {
	v := &view{pods: map[netip.Addr]*corev1.Pod{}, namespaces: map[string]map[string]string{}}
	all := make([]*networkingv1.NetworkPolicy, 0, len(policies))
	for i := range policies {
		all = append(all, &policies[i])
	}
	v.policy = matcher.BuildNetworkPolicies(false, all)
	for i := range pods {
		v.add(&pods[i])
	}
	for _, namespace := range namespaces {
		v.namespaces[namespace.Name] = namespace.Labels
	}
	return v
}

// add remembers a pod by its addresses. One in its node's network has none of its own, and those of one that has ended may be another's.
func (v *view) add(pod *corev1.Pod) {
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if pod.Spec.HostNetwork || ended {
		return
	}
	for _, ip := range pod.Status.PodIPs {
		if address, err := netip.ParseAddr(ip.IP); err == nil {
			v.pods[address] = pod
		}
	}
}

// allows reports whether the NetworkPolicies allow a connection.
func (v *view) allows(c connection) bool {
	return v.policy.IsTrafficAllowed(&matcher.Traffic{
		Source: v.peer(c.from), Destination: v.peer(c.to),
		ResolvedPort: c.port, ResolvedPortName: v.portName(c), Protocol: c.protocol,
	}).IsAllowed()
}

func (v *view) peer(address netip.Addr) *matcher.TrafficPeer {
	peer := &matcher.TrafficPeer{IP: address.String()}
	if pod := v.pods[address]; pod != nil {
		peer.Internal = &matcher.InternalPeer{
			PodLabels: pod.Labels, Namespace: pod.Namespace, NamespaceLabels: v.namespaces[pod.Namespace],
		}
	}
	return peer
}

// portName is what the destination's pod calls the port, empty if it has no name for it.
func (v *view) portName(c connection) string {
	pod := v.pods[c.to]
	if pod == nil {
		return ""
	}
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if int(port.ContainerPort) == c.port && port.Protocol == c.protocol {
				return port.Name
			}
		}
	}
	return ""
}
