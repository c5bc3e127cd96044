package resources

import (
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

var operatorPods = OperatorPods{Namespace: "operators", Labels: map[string]string{"app.kubernetes.io/name": "etcd-operator"}}

// TestGoldenNetworkPolicies shows whole NetworkPolicies. Write them with -update.
func TestGoldenNetworkPolicies(t *testing.T) {
	for name, c := range map[string]*v1beta2.EtcdCluster{
		"network-policy-peers": cluster(func(*v1beta2.EtcdCluster) {}),
		"network-policy-strict": cluster(func(c *v1beta2.EtcdCluster) {
			c.Spec.NetworkPolicy = &v1beta2.NetworkPolicySpec{
				Mode: v1beta2.NetworkPolicyStrict,
				ClientsFrom: []v1beta2.NetworkPeer{
					{PodSelector: &v1beta2.PeerSelector{MatchLabels: map[string]string{"role": "client"}}},
					{IPBlock: &v1beta2.PeerBlock{CIDR: "192.0.2.0/24"}},
				},
				MetricsFrom: []v1beta2.NetworkPeer{{NamespaceSelector: &v1beta2.PeerSelector{}}},
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name, NetworkPolicy(c, NetworkPolicyMode(c), operatorPods))
		})
	}
}

// TestPeerPortsAdmitMembersAlone shuts everybody but members out of both ports for peers, whatever transport the status tells of: a pod
// serves the one that it was created with, also before the status has it, and after it has gone from there.
func TestPeerPortsAdmitMembersAlone(t *testing.T) {
	for name, given := range map[string]*v1beta2.TransportStatus{
		"none":            nil,
		"the first alone": {PeerTLS: true},
		"both":            {PeerBoth: true},
		"the other alone": {PeerTLS: true, PeerPort: member.OtherPeerPort},
	} {
		for _, mode := range []v1beta2.NetworkPolicyMode{v1beta2.NetworkPolicyPeers, v1beta2.NetworkPolicyStrict} {
			c := cluster(func(c *v1beta2.EtcdCluster) { c.Status.ClusterID, c.Status.Transport = "00000000000000c1", given })
			for _, port := range []int32{member.PeerPort, member.OtherPeerPort} {
				rules := rulesAbout(NetworkPolicy(c, mode, operatorPods), port)
				if len(rules) != 1 {
					t.Errorf("%s, %s, port %d: %d rules are about it", name, mode, port, len(rules))
				}
				for _, rule := range rules {
					if len(rule.From) != 1 || rule.From[0].PodSelector == nil || rule.From[0].NamespaceSelector != nil {
						t.Errorf("%s, %s, port %d: %+v admits others", name, mode, port, rule)
					}
				}
			}
		}
	}
}

// rulesAbout are the rules that admit someone to that TCP port. One without ports is about all.
func rulesAbout(p *networkingv1.NetworkPolicy, port int32) []networkingv1.NetworkPolicyIngressRule {
	var about []networkingv1.NetworkPolicyIngressRule
	for _, rule := range p.Spec.Ingress {
		if len(rule.Ports) == 0 || slices.ContainsFunc(rule.Ports, func(n networkingv1.NetworkPolicyPort) bool {
			last := n.Port.IntVal
			if n.EndPort != nil {
				last = *n.EndPort
			}
			return *n.Protocol == corev1.ProtocolTCP && n.Port.IntVal <= port && port <= last
		}) {
			about = append(about, rule)
		}
	}
	return about
}

// TestStrictAdmitsNobodyByMistake wants every rule of mode Strict to name someone: one that does not admits everyone.
func TestStrictAdmitsNobodyByMistake(t *testing.T) {
	c := cluster(func(c *v1beta2.EtcdCluster) {
		c.Spec.NetworkPolicy = &v1beta2.NetworkPolicySpec{Mode: v1beta2.NetworkPolicyStrict}
	})
	for _, rule := range NetworkPolicy(c, v1beta2.NetworkPolicyStrict, operatorPods).Spec.Ingress {
		if len(rule.From) == 0 || len(rule.Ports) == 0 {
			t.Errorf("%+v admits everyone", rule)
		}
	}
}

// TestNetworkPolicyPatch changes NetworkPolicies in every way, and wants the patch to undo it, and nothing to be due afterwards.
func TestNetworkPolicyPatch(t *testing.T) {
	c := cluster(func(*v1beta2.EtcdCluster) {})
	want := NetworkPolicy(c, v1beta2.NetworkPolicyPeers, operatorPods)
	if NetworkPolicyDue(want.DeepCopy(), want) {
		t.Error("a patch is due where nothing differs")
	}
	for name, edit := range map[string]func(*networkingv1.NetworkPolicy){
		"more open":       func(p *networkingv1.NetworkPolicy) { p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{}} },
		"closed":          func(p *networkingv1.NetworkPolicy) { p.Spec.Ingress = nil },
		"another port":    func(p *networkingv1.NetworkPolicy) { p.Spec.Ingress[0].Ports[0].Port = new(intstr.FromInt32(1)) },
		"fewer pods":      func(p *networkingv1.NetworkPolicy) { p.Spec.PodSelector.MatchLabels["x"] = "y" },
		"other pods":      func(p *networkingv1.NetworkPolicy) { p.Spec.PodSelector = expression() },
		"no outward path": func(p *networkingv1.NetworkPolicy) { p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, "Egress") },
		"outward rules":   func(p *networkingv1.NetworkPolicy) { p.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{}} },
		"no labels":       func(p *networkingv1.NetworkPolicy) { p.Labels = nil },
		"as Strict":       func(p *networkingv1.NetworkPolicy) { *p = *NetworkPolicy(c, v1beta2.NetworkPolicyStrict, operatorPods) },
	} {
		t.Run(name, func(t *testing.T) {
			have := want.DeepCopy()
			edit(have)
			if !NetworkPolicyDue(have, want) {
				t.Fatal("no patch is due")
			}
			patched := merged(t, have, want)
			if NetworkPolicyDue(patched, want) {
				t.Errorf("patched: %+v, want %+v", patched, want)
			}
		})
	}
	have := want.DeepCopy()
	have.Labels["theirs"], have.Spec.Ingress = "kept", nil
	if patched := merged(t, have, want); patched.Labels["theirs"] != "kept" {
		t.Errorf("the labels are %v", patched.Labels)
	}
}

func expression() metav1.LabelSelector {
	return metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: corev1.LabelHostname, Operator: metav1.LabelSelectorOpExists,
	}}}
}

// merged is what the API server makes of the patch.
func merged(t *testing.T, have, want *networkingv1.NetworkPolicy) *networkingv1.NetworkPolicy {
	t.Helper()
	meta, spec := NetworkPolicyPatch(have, want)
	patch, err := json.Marshal(map[string]any{"metadata": meta, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	out := have.DeepCopy()
	api := fake.NewClientBuilder().WithObjects(out).Build()
	if err := api.Patch(t.Context(), out, client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
	return out
}
