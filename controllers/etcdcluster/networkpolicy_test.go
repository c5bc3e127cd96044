package etcdcluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// networkPolicy changes what is asked of the NetworkPolicy, and the NetworkPolicy by hand, and looks at what becomes of it.
func (e *env) networkPolicy(t *testing.T) {
	e.cluster(t, "guarded", v1beta2.EtcdClusterSpec{Size: 1})
	first := e.policy(t, "guarded", func(p *networkingv1.NetworkPolicy) bool { return opens(p, 2379) && !opens(p, 2380) })
	if owner := metav1.GetControllerOf(first); owner == nil || owner.Kind != "EtcdCluster" || owner.Name != "guarded" {
		t.Errorf("it is controlled by %v", owner)
	}
	e.podsOf(t, "guarded", 1)

	must(t, e.Patch(t.Context(), first.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(
		`{"metadata":{"labels":{"mine":"kept"}},"spec":{"podSelector":{"matchLabels":{"x":"y"}},"ingress":[{}],"policyTypes":["Ingress","Egress"]}}`))))
	e.policy(t, "guarded", func(p *networkingv1.NetworkPolicy) bool {
		return p.UID == first.UID && p.Labels["mine"] == "kept" && len(p.Spec.PodSelector.MatchLabels) == 2 && !opens(p, 2380) &&
			len(p.Spec.PolicyTypes) == 1
	})
	must(t, e.Delete(t.Context(), first))
	e.policy(t, "guarded", func(p *networkingv1.NetworkPolicy) bool { return p.UID != first.UID })

	app := v1beta2.NetworkPeer{PodSelector: &v1beta2.PeerSelector{MatchLabels: map[string]string{"role": "client"}}}
	e.guard(t, "guarded", &v1beta2.NetworkPolicySpec{
		Mode: v1beta2.NetworkPolicyStrict, ClientsFrom: []v1beta2.NetworkPeer{app},
	})
	e.policy(t, "guarded", func(p *networkingv1.NetworkPolicy) bool {
		return !opens(p, 2379) && !opens(p, 2380) && !opens(p, 2381) && admits(p, 2379, "role", "client") &&
			admits(p, 2379, "app.kubernetes.io/name", "etcd-operator") && admits(p, 2381, "app.kubernetes.io/name", "etcd-operator") &&
			!admits(p, 2381, "role", "client")
	})
	e.guard(t, "guarded", &v1beta2.NetworkPolicySpec{Mode: v1beta2.NetworkPolicyNone})
	e.noPolicy(t, "guarded")
	e.guard(t, "guarded", nil)
	e.policy(t, "guarded", func(p *networkingv1.NetworkPolicy) bool { return opens(p, 2379) })
	t.Run("nothing is written while the cluster is paused", e.pausedPolicy)
}

func (e *env) pausedPolicy(t *testing.T) {
	e.edit(t, "guarded", func(s *v1beta2.EtcdClusterSpec) { s.Paused = true })
	e.says(t, "guarded", v1beta2.ReasonPaused, "")
	gone := e.policy(t, "guarded", func(*networkingv1.NetworkPolicy) bool { return true })
	must(t, e.Delete(t.Context(), gone))
	e.guard(t, "guarded", &v1beta2.NetworkPolicySpec{Mode: v1beta2.NetworkPolicyStrict})
	await(t, "that the edit was seen", func() error {
		c := meta.FindStatusCondition(e.read(t, "guarded").Status.Conditions, v1beta2.ConditionProgressing)
		if c == nil || c.ObservedGeneration != e.read(t, "guarded").Generation {
			return fmt.Errorf("condition %+v", c)
		}
		return nil
	})
	e.noPolicy(t, "guarded")
	e.edit(t, "guarded", func(s *v1beta2.EtcdClusterSpec) { s.Paused = false })
	e.policy(t, "guarded", func(p *networkingv1.NetworkPolicy) bool { return !opens(p, 2379) })
}

// foreignPolicy has someone else's NetworkPolicy at the name that the cluster's would have. The cluster starts all the same.
func (e *env) foreignPolicy(t *testing.T) {
	foreign := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "fenced", Labels: map[string]string{"app": "etcd", "etcd_cluster": "fenced"},
	}}
	must(t, e.Create(t.Context(), foreign))
	e.cluster(t, "fenced", v1beta2.EtcdClusterSpec{Size: 1})
	e.podsOf(t, "fenced", 1)
	degraded := func(says bool) {
		t.Helper()
		await(t, "Degraded", func() error {
			c := meta.FindStatusCondition(e.read(t, "fenced").Status.Conditions, v1beta2.ConditionDegraded)
			if c == nil || says != strings.Contains(c.Message, "fenced belongs to no controller") {
				return fmt.Errorf("condition %+v", c)
			}
			return nil
		})
	}
	degraded(true)
	e.guard(t, "fenced", &v1beta2.NetworkPolicySpec{Mode: v1beta2.NetworkPolicyNone})
	degraded(false)
	e.policy(t, "fenced", func(p *networkingv1.NetworkPolicy) bool {
		return p.UID == foreign.UID && p.ResourceVersion == foreign.ResourceVersion
	})
	e.guard(t, "fenced", nil)
	degraded(true)
	must(t, e.Delete(t.Context(), foreign))
	e.policy(t, "fenced", func(p *networkingv1.NetworkPolicy) bool { return metav1.GetControllerOf(p) != nil })
	degraded(false)
}

func (e *env) guard(t *testing.T, name string, policy *v1beta2.NetworkPolicySpec) {
	t.Helper()
	e.edit(t, name, func(s *v1beta2.EtcdClusterSpec) { s.NetworkPolicy = policy })
}

// policy waits until the NetworkPolicy is as it should be.
func (e *env) policy(t *testing.T, name string, right func(*networkingv1.NetworkPolicy) bool) *networkingv1.NetworkPolicy {
	t.Helper()
	object := &networkingv1.NetworkPolicy{}
	await(t, "NetworkPolicy "+name, func() error {
		*object = networkingv1.NetworkPolicy{}
		err := e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object)
		if err == nil && !right(object) {
			err = fmt.Errorf("%v, %+v", object.Labels, object.Spec)
		}
		return err
	})
	return object
}

func (e *env) noPolicy(t *testing.T, name string) {
	t.Helper()
	await(t, "the end of NetworkPolicy "+name, func() error {
		err := e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &networkingv1.NetworkPolicy{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %w", err)
	})
}

// opens reports whether everyone may reach a port.
func opens(p *networkingv1.NetworkPolicy, port int32) bool {
	return slices.ContainsFunc(p.Spec.Ingress, func(r networkingv1.NetworkPolicyIngressRule) bool {
		return len(r.From) == 0 && reaches(r, port)
	})
}

// admits reports whether pods with a label may reach a port.
func admits(p *networkingv1.NetworkPolicy, port int32, label, value string) bool {
	return slices.ContainsFunc(p.Spec.Ingress, func(r networkingv1.NetworkPolicyIngressRule) bool {
		return reaches(r, port) && slices.ContainsFunc(r.From, func(from networkingv1.NetworkPolicyPeer) bool {
			return from.PodSelector != nil && from.PodSelector.MatchLabels[label] == value
		})
	})
}

func reaches(r networkingv1.NetworkPolicyIngressRule, port int32) bool {
	return len(r.Ports) == 0 || slices.ContainsFunc(r.Ports, func(p networkingv1.NetworkPolicyPort) bool {
		last := p.Port.IntVal
		if p.EndPort != nil {
			last = *p.EndPort
		}
		return *p.Protocol == "TCP" && p.Port.IntVal <= port && port <= last
	})
}
