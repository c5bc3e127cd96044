package etcdcluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestRefusedPolicy has the NetworkPolicy refused: the cluster comes up and is repaired all the same, and says so until the policy is
// there.
func TestRefusedPolicy(t *testing.T) {
	w := newRefusingWorld(t)
	w.refuse = func(_ context.Context, _, kind, name string) error {
		if kind != "NetworkPolicy" {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Group: "networking.k8s.io", Resource: "networkpolicies"}, name,
			errors.New("none of yours"))
	}
	w.until(t, "healthy", func() bool { return len(w.read(t).Status.Members.Ready) == 3 })
	w.until(t, "said", func() bool { return w.says(t, v1beta2.ConditionDegraded).Reason == v1beta2.ReasonNetworkPolicyMissing })
	if c := w.says(t, v1beta2.ConditionDegraded); !strings.Contains(c.Message, "none of yours") || !strings.Contains(c.Message, "mode None") {
		t.Errorf("Degraded is %+v", c)
	}
	pods := &corev1.PodList{}
	must(t, w.api.List(t.Context(), pods))
	must(t, w.api.Delete(t.Context(), &pods.Items[0]))
	w.until(t, "repaired", func() bool {
		again := &corev1.Pod{}
		err := w.api.Get(t.Context(), client.ObjectKeyFromObject(&pods.Items[0]), again)
		return err == nil && again.UID != pods.Items[0].UID
	})
	w.refuse = func(context.Context, string, string, string) error { return nil }
	w.until(t, "Ready", func() bool { return w.says(t, v1beta2.ConditionReady).Status == metav1.ConditionTrue })
	must(t, w.api.Get(t.Context(), w.name, &networkingv1.NetworkPolicy{}))
}

// TestStrictWithoutIdentity has an operator asked for a policy that would shut it out: it writes the one that does not, and says so.
func TestStrictWithoutIdentity(t *testing.T) {
	w := newRefusingWorld(t)
	ask := func(mode v1beta2.NetworkPolicyMode) {
		c := w.read(t)
		c.Spec.NetworkPolicy = &v1beta2.NetworkPolicySpec{Mode: mode}
		must(t, w.api.Update(t.Context(), c))
	}
	strict := func() bool {
		found := &networkingv1.NetworkPolicy{}
		must(t, w.api.Get(t.Context(), w.name, found))
		return !opens(found, 2379)
	}
	ask(v1beta2.NetworkPolicyStrict)
	w.until(t, "healthy", func() bool { return len(w.read(t).Status.Members.Ready) == 3 })
	w.until(t, "said", func() bool { return w.says(t, v1beta2.ConditionDegraded).Reason == v1beta2.ReasonOperatorUnknown })
	if c := w.says(t, v1beta2.ConditionDegraded); strict() || !strings.Contains(c.Message, "spec.networkPolicy.mode") {
		t.Errorf("the policy is Strict: %v; Degraded is %+v", strict(), c)
	}
	w.operator.OwnPods = ownPods
	w.until(t, "Strict", strict)
	w.until(t, "Ready", func() bool { return w.says(t, v1beta2.ConditionReady).Status == metav1.ConditionTrue })
}

// TestExposedWarning tells once, and as soon as it is so, that anyone outside may reach a cluster without TLS.
func TestExposedWarning(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "shown"}
	w.cluster(t, name)
	for _, step := range []struct {
		title  string
		kind   corev1.ServiceType
		ranges []string
		mode   v1beta2.NetworkPolicyMode
		warned int
	}{
		{title: "inside only"},
		{title: "a load balancer", kind: corev1.ServiceTypeLoadBalancer, warned: 1},
		{title: "of some", kind: corev1.ServiceTypeLoadBalancer, ranges: []string{"192.0.2.0/24"}},
		{title: "a node port", kind: corev1.ServiceTypeNodePort, warned: 1},
		{title: "strictly", kind: corev1.ServiceTypeNodePort, mode: v1beta2.NetworkPolicyStrict},
		{title: "to all again", kind: corev1.ServiceTypeNodePort, warned: 1},
	} {
		w.change(t, name, func(c *v1beta2.EtcdCluster) {
			c.Spec.NetworkPolicy = &v1beta2.NetworkPolicySpec{Mode: step.mode}
			c.Spec.Services = &v1beta2.ServicesPolicy{Client: &v1beta2.ClientServicePolicy{
				Type: step.kind, LoadBalancerSourceRanges: step.ranges,
			}}
		})
		for range 5 {
			_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
			must(t, err)
		}
		if recorded := w.recordedEvents(); strings.Count(recorded, "Warning "+v1beta2.ReasonPlaintextExposed) != step.warned {
			t.Errorf("%s: events %s", step.title, recorded)
		}
	}
}

// TestNoRightToPolicies runs an operator whose role is from before NetworkPolicies: it reconciles clusters, says what it lacks, and
// makes the NetworkPolicy once it may.
func TestNoRightToPolicies(t *testing.T) {
	ctrl.SetLogger(testr.NewWithOptions(t, testr.Options{Verbosity: 1}))
	config := testenv.Start(t)
	admin := testenv.Client(t, config)
	controllertest.InstallRoles(t, admin)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "etcd-operator-manager-role"}}
	must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(role), role))
	whole := slices.Clone(role.Rules)
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "networkpolicies") })
	must(t, admin.Update(t.Context(), role))
	must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	e := &env{t, admin}
	startOperator(t, config)
	e.cluster(t, "bare", v1beta2.EtcdClusterSpec{Size: 1})
	e.podsOf(t, "bare", 1)
	await(t, "Degraded", func() error {
		c := meta.FindStatusCondition(e.read(t, "bare").Status.Conditions, v1beta2.ConditionDegraded)
		if c == nil || !strings.Contains(c.Message, `cannot get resource "networkpolicies"`) {
			return fmt.Errorf("condition %+v", c)
		}
		return nil
	})
	role.Rules = whole
	must(t, admin.Update(t.Context(), role))
	e.policy(t, "bare", func(p *networkingv1.NetworkPolicy) bool { return p.Labels[resources.LabelCluster] == "bare" })
}

// TestNoRightToPoliciesInOne lacks the right in one of the namespaces that are watched: that one is served as well, and in the other
// NetworkPolicies are watched.
func TestNoRightToPoliciesInOne(t *testing.T) {
	ctrl.SetLogger(testr.NewWithOptions(t, testr.Options{Verbosity: 1}))
	config := testenv.Start(t)
	n := &namespaced{Client: testenv.Client(t, config), config: config}
	controllertest.InstallRoles(t, n.Client)
	everywhere := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "etcd-operator-manager-rolebinding"}}
	must(t, n.Delete(t.Context(), everywhere))
	for _, name := range []string{"without", "with"} {
		n.namespace(t, name)
		n.grant(t, name)
		n.cluster(t, name, "c")
	}
	role := &rbacv1.Role{}
	must(t, n.Get(t.Context(), client.ObjectKey{Namespace: "without", Name: "etcd-operator-manager-role"}, role))
	whole := slices.Clone(role.Rules)
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "networkpolicies") })
	must(t, n.Update(t.Context(), role))
	watched := make(chan struct{})
	startOperator(t, answered(config, "/namespaces/with/networkpolicies", watched), "without", "with")
	select {
	case <-watched:
	case <-time.After(time.Minute):
		t.Error("NetworkPolicies are watched nowhere")
	}
	n.served(t, "with", "c")
	n.served(t, "without", "c")
	policy := func(namespace string) error {
		return n.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: resources.NetworkPolicyName("c")}, &networkingv1.NetworkPolicy{})
	}
	await(t, "the policy", func() error { return policy("with") })
	if err := policy("without"); !apierrors.IsNotFound(err) {
		t.Errorf("a policy without the right to it: %v", err)
	}
	role.Rules = whole
	must(t, n.Update(t.Context(), role))
	await(t, "the policy once it may be made", func() error { return policy("without") })
}
