package resources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// lastPort is the highest port number.
const lastPort = 65535

// OperatorPods says which pods are the operator's.
type OperatorPods struct {
	// Namespace is theirs, Labels are some that they have; without either they cannot be selected.
	Namespace string
	Labels    map[string]string
}

// Known reports whether the pods can be selected.
func (o OperatorPods) Known() bool { return o.Namespace != "" && len(o.Labels) > 0 }

func (o OperatorPods) peer() networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{
		// Kubernetes itself gives every namespace this label.
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: o.Namespace}},
		PodSelector:       &metav1.LabelSelector{MatchLabels: o.Labels},
	}
}

// NetworkPolicyName is the name of the NetworkPolicy.
func NetworkPolicyName(cluster string) string { return cluster }

// NetworkPolicyMode is the mode that the spec asks for.
func NetworkPolicyMode(c *v1beta2.EtcdCluster) v1beta2.NetworkPolicyMode {
	if c.Spec.NetworkPolicy == nil || c.Spec.NetworkPolicy.Mode == "" {
		return v1beta2.NetworkPolicyPeers
	}
	return c.Spec.NetworkPolicy.Mode
}

// NetworkPolicy is that of the members' pods in mode Peers or Strict. Strict needs pods of the operator that are Known: it would shut
// out others.
func NetworkPolicy(c *v1beta2.EtcdCluster, mode v1beta2.NetworkPolicyMode, operator OperatorPods) *networkingv1.NetworkPolicy {
	selector := metav1.LabelSelector{MatchLabels: ClusterSelector(c.Name)}
	members := networkingv1.NetworkPolicyPeer{PodSelector: &selector}
	// Both at any time, as a pod may serve a port that the spec and the status no longer ask for, or do not ask for yet.
	rules := []networkingv1.NetworkPolicyIngressRule{admit(member.PeerPort, members), admit(member.OtherPeerPort, members)}
	if mode == v1beta2.NetworkPolicyStrict {
		rules = append(rules, strict(c, members, operator.peer())...)
	} else {
		rules = append(rules, allButPeers())
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: objectMeta(c, NetworkPolicyName(c.Name)),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: selector, Ingress: rules, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		},
	}
}

// allButPeers admits everyone to every port but the peers': clients, those who scrape metrics, and whoever talks to containers that a
// template or a webhook has added. A network that ignores endPort admits to the first port of each range only, and these are chosen so
// that clients' and metrics are among them.
func allButPeers() networkingv1.NetworkPolicyIngressRule {
	return networkingv1.NetworkPolicyIngressRule{Ports: []networkingv1.NetworkPolicyPort{
		ports(corev1.ProtocolTCP, member.ClientPort, member.ClientPort),
		ports(corev1.ProtocolTCP, member.MetricsPort, member.MetricsPort),
		ports(corev1.ProtocolTCP, member.OtherPeerPort+1, lastPort),
		ports(corev1.ProtocolTCP, 1, member.ClientPort-1),
		ports(corev1.ProtocolUDP, 1, lastPort),
	}}
}

// strict admits to the other ports whom the members cannot do without, and whom the spec names.
func strict(c *v1beta2.EtcdCluster, members, operator networkingv1.NetworkPolicyPeer) []networkingv1.NetworkPolicyIngressRule {
	given := v1beta2.NetworkPolicySpec{}
	if c.Spec.NetworkPolicy != nil {
		given = *c.Spec.NetworkPolicy
	}
	clients := []networkingv1.NetworkPolicyPeer{members, operator, agents(LabelBackup), agents(LabelRestore)}
	return []networkingv1.NetworkPolicyIngressRule{
		admit(member.ClientPort, slices.Concat(clients, peers(given.ClientsFrom))...),
		admit(member.MetricsPort, slices.Concat([]networkingv1.NetworkPolicyPeer{operator}, peers(given.MetricsFrom))...),
		// How far a restore has come that runs before a member's first start.
		admit(task.ProgressPort, operator),
	}
}

// agents are the pods of the EtcdBackups or EtcdRestores of the cluster's namespace. Their labels do not say of which cluster.
func agents(label string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{
		MatchLabels:      agentLabels(),
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: label, Operator: metav1.LabelSelectorOpExists}},
	}}
}

// peers are those of a spec as Kubernetes has them.
func peers(given []v1beta2.NetworkPeer) []networkingv1.NetworkPolicyPeer {
	out := make([]networkingv1.NetworkPolicyPeer, 0, len(given))
	for _, p := range given {
		peer := networkingv1.NetworkPolicyPeer{
			PodSelector: labelSelector(p.PodSelector), NamespaceSelector: labelSelector(p.NamespaceSelector),
		}
		if p.IPBlock != nil {
			peer.IPBlock = &networkingv1.IPBlock{CIDR: p.IPBlock.CIDR, Except: p.IPBlock.Except}
		}
		out = append(out, peer)
	}
	return out
}

// labelSelector keeps an empty selector, which selects all, apart from none.
func labelSelector(given *v1beta2.PeerSelector) *metav1.LabelSelector {
	if given == nil {
		return nil
	}
	return &metav1.LabelSelector{MatchLabels: given.MatchLabels}
}

func admit(number int32, from ...networkingv1.NetworkPolicyPeer) networkingv1.NetworkPolicyIngressRule {
	return networkingv1.NetworkPolicyIngressRule{
		Ports: []networkingv1.NetworkPolicyPort{ports(corev1.ProtocolTCP, number, number)}, From: from,
	}
}

func ports(protocol corev1.Protocol, first, last int32) networkingv1.NetworkPolicyPort {
	out := networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: new(intstr.FromInt32(first))}
	if last != first {
		out.EndPort = &last
	}
	return out
}

// NetworkPolicyDue reports whether a NetworkPolicy has to be patched.
func NetworkPolicyDue(have, want *networkingv1.NetworkPolicy) bool {
	return !contains(have.Labels, want.Labels) || !equality.Semantic.DeepEqual(have.Spec, want.Spec)
}

// NetworkPolicyPatch is the change to the wanted NetworkPolicy, as the metadata and the spec of a JSON merge patch. Metadata of others
// stays, and no field of the spec does.
func NetworkPolicyPatch(have, want *networkingv1.NetworkPolicy) (meta, spec map[string]any) {
	return map[string]any{"labels": want.Labels}, map[string]any{
		"podSelector": map[string]any{
			"matchLabels":      change(have.Spec.PodSelector.MatchLabels, want.Spec.PodSelector.MatchLabels),
			"matchExpressions": nil,
		},
		"ingress": want.Spec.Ingress, "egress": nil, "policyTypes": want.Spec.PolicyTypes,
	}
}
