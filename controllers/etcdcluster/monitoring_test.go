package etcdcluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/controllers/internal/monitoring"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// monitoredEnv is an API server that may know Prometheus Operator's kinds.
type monitoredEnv struct {
	*env
	objects *monitoring.Objects
}

// TestMonitoring installs Prometheus Operator's kinds after the operator has started, and looks at what it makes of them.
func TestMonitoring(t *testing.T) {
	ctrl.SetLogger(testr.NewWithOptions(t, testr.Options{Verbosity: 1}))
	config := testenv.Start(t)
	admin := testenv.Client(t, config)
	controllertest.InstallRoles(t, admin)
	must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	e := &monitoredEnv{&env{t, admin}, startOperator(t, config)}

	e.cluster(t, "first", v1beta2.EtcdClusterSpec{Size: 1})
	e.podsOf(t, "first", 1)
	e.notMissed(t, "first")
	controllertest.InstallPrometheusKinds(t, admin)
	await(t, "that the operator finds the kinds", func() error {
		e.objects.Look(t.Context())
		for _, kind := range []schema.GroupVersionKind{resources.PodMonitorKind, resources.PrometheusRuleKind} {
			if found := e.objects.Find(kind, client.ObjectKey{Namespace: namespace}); !found.Served {
				return fmt.Errorf("%s is not known", kind.Kind)
			}
		}
		return nil
	})
	e.nudge(t, "first")
	e.object(t, resources.PodMonitorKind, "first", func(u *unstructured.Unstructured) bool {
		owner := metav1.GetControllerOf(u)
		return owner != nil && owner.Name == "first" && resources.AsMade(u)
	})
	e.ownedBy(t, "first")

	t.Run("a second cluster", e.shares)
	t.Run("changes by hand", e.putRight)
	t.Run("a PodMonitor of somebody else", e.foreign)
	t.Run("mode Off", e.off)
	t.Run("without the right", e.forbidden)
}

func (e *monitoredEnv) shares(t *testing.T) {
	e.cluster(t, "second", v1beta2.EtcdClusterSpec{Size: 1})
	e.object(t, resources.PodMonitorKind, "second", resources.AsMade)
	e.ownedBy(t, "first", "second")
}

func (e *monitoredEnv) putRight(t *testing.T) {
	before := map[string]types.UID{}
	for _, kind := range []schema.GroupVersionKind{resources.PodMonitorKind, resources.PrometheusRuleKind} {
		name := map[string]string{"PodMonitor": "first", "PrometheusRule": resources.AlertsName}[kind.Kind]
		u := e.object(t, kind, name, resources.AsMade)
		before[kind.Kind] = u.GetUID()
		field := map[string]string{"PodMonitor": `"sampleLimit":1`, "PrometheusRule": `"groups":[]`}[kind.Kind]
		must(t, e.Patch(t.Context(), u, client.RawPatch(types.MergePatchType, []byte(
			`{"metadata":{"labels":{"release":"mine","app.kubernetes.io/name":"x"}},"spec":{`+field+`}}`))))
	}
	e.objects.Look(t.Context()) // without one of its labels it is not found
	e.nudge(t, "first")
	e.object(t, resources.PodMonitorKind, "first", func(u *unstructured.Unstructured) bool {
		return resources.AsMade(u) && u.GetLabels()["release"] == "mine" && u.GetUID() == before["PodMonitor"]
	})
	rule := e.object(t, resources.PrometheusRuleKind, resources.AlertsName, func(u *unstructured.Unstructured) bool {
		return resources.AsMade(u) && u.GetLabels()["release"] == "mine" && u.GetUID() == before["PrometheusRule"]
	})
	e.ownedBy(t, "first", "second")

	must(t, e.Delete(t.Context(), rule))
	e.objects.Look(t.Context())
	e.nudge(t, "first")
	e.nudge(t, "second")
	e.ownedBy(t, "first", "second")
}

func (e *monitoredEnv) foreign(t *testing.T) {
	foreign := objectOf(resources.PodMonitorKind, "taken")
	foreign.Object["spec"] = map[string]any{"selector": map[string]any{}}
	must(t, e.Create(t.Context(), foreign))
	e.cluster(t, "taken", v1beta2.EtcdClusterSpec{Size: 1})
	e.podsOf(t, "taken", 1)
	e.missed(t, "taken", "taken belongs to no controller")
	e.edit(t, "taken", func(s *v1beta2.EtcdClusterSpec) { s.Monitoring = &v1beta2.MonitoringSpec{Mode: v1beta2.MonitoringOff} })
	e.notMissed(t, "taken")
	e.object(t, resources.PodMonitorKind, "taken", func(u *unstructured.Unstructured) bool {
		return u.GetResourceVersion() == foreign.GetResourceVersion()
	})
	e.edit(t, "taken", func(s *v1beta2.EtcdClusterSpec) { s.Monitoring = nil })
	e.missed(t, "taken", "taken belongs to no controller")
	must(t, e.Delete(t.Context(), foreign))
	e.objects.Look(t.Context())
	e.nudge(t, "taken")
	e.object(t, resources.PodMonitorKind, "taken", resources.AsMade)
	e.notMissed(t, "taken")
}

func (e *monitoredEnv) off(t *testing.T) {
	for _, name := range []string{"taken", "first", "second"} {
		e.edit(t, name, func(s *v1beta2.EtcdClusterSpec) { s.Monitoring = &v1beta2.MonitoringSpec{Mode: v1beta2.MonitoringOff} })
		e.none(t, resources.PodMonitorKind, name)
		if name == "first" {
			e.ownedBy(t, "second")
		}
	}
	e.none(t, resources.PrometheusRuleKind, resources.AlertsName)
	e.edit(t, "first", func(s *v1beta2.EtcdClusterSpec) { s.Monitoring.Mode = v1beta2.MonitoringAuto })
	e.object(t, resources.PodMonitorKind, "first", resources.AsMade)
	e.ownedBy(t, "first")
}

// forbidden takes the rights away: clusters are looked after all the same, say what is missing, and go on once the rights are back.
func (e *monitoredEnv) forbidden(t *testing.T) {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "etcd-operator-manager-role"}}
	must(t, e.Get(t.Context(), client.ObjectKeyFromObject(role), role))
	whole := slices.Clone(role.Rules)
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "podmonitors") })
	must(t, e.Update(t.Context(), role))
	await(t, "that the right is gone", func() error {
		e.objects.Look(t.Context())
		if found := e.objects.Find(resources.PodMonitorKind, client.ObjectKey{Namespace: namespace}); found.Refused == nil {
			return fmt.Errorf("found %+v", found)
		}
		return nil
	})
	e.cluster(t, "bare", v1beta2.EtcdClusterSpec{Size: 1})
	e.podsOf(t, "bare", 1)
	e.missed(t, "bare", `cannot list resource "podmonitors"`)
	role.Rules = whole
	must(t, e.Update(t.Context(), role))
	await(t, "that the right is back", func() error {
		if !e.objects.Look(t.Context()) {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	e.nudge(t, "bare")
	e.object(t, resources.PodMonitorKind, "bare", resources.AsMade)
	e.notMissed(t, "bare")
}

// TestIdleMonitoredClusterCostsNothing has a cluster with Prometheus Operator cost no more than one without.
func TestIdleMonitoredClusterCostsNothing(t *testing.T) {
	w := newIdleWorld(t)
	for _, kind := range []schema.GroupVersionKind{resources.PodMonitorKind, resources.PrometheusRuleKind} {
		w.api.Scheme().AddKnownTypeWithName(kind, &unstructured.Unstructured{})
		w.api.Scheme().AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &unstructured.UnstructuredList{})
	}
	w.operator.Monitoring = &monitoring.Objects{Live: w.api}
	w.operator.Monitoring.Look(t.Context())
	name := types.NamespacedName{Namespace: namespace, Name: "idle"}
	w.cluster(t, name)
	w.calms(t, name)
	for kind, object := range map[schema.GroupVersionKind]string{resources.PodMonitorKind: "idle", resources.PrometheusRuleKind: resources.AlertsName} {
		u := objectOf(kind, object)
		must(t, w.api.Get(t.Context(), client.ObjectKeyFromObject(u), u))
	}
	// A look that finds them as they are costs the cluster nothing, either.
	w.operator.Monitoring.Look(t.Context())
	w.calms(t, name)
}

func objectOf(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// object waits until an object of Prometheus Operator is as it should be.
func (e *monitoredEnv) object(
	t *testing.T, kind schema.GroupVersionKind, name string, right func(*unstructured.Unstructured) bool,
) *unstructured.Unstructured {
	t.Helper()
	u := objectOf(kind, name)
	await(t, kind.Kind+" "+name, func() error {
		err := e.Get(t.Context(), client.ObjectKeyFromObject(u), u)
		if err == nil && !right(u) {
			err = fmt.Errorf("%v", u.Object)
		}
		return err
	})
	return u
}

func (e *monitoredEnv) none(t *testing.T, kind schema.GroupVersionKind, name string) {
	t.Helper()
	await(t, "the end of "+kind.Kind+" "+name, func() error {
		u := objectOf(kind, name)
		if err := e.Get(t.Context(), client.ObjectKeyFromObject(u), u); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there: %w", err)
		}
		return nil
	})
}

// ownedBy waits until the alerts are there and these clusters are their owners, none of them the only one.
func (e *monitoredEnv) ownedBy(t *testing.T, clusters ...string) {
	t.Helper()
	e.object(t, resources.PrometheusRuleKind, resources.AlertsName, func(u *unstructured.Unstructured) bool {
		var owners []string
		for _, owner := range u.GetOwnerReferences() {
			owners = append(owners, owner.Name)
		}
		slices.Sort(owners)
		return resources.AsMade(u) && slices.Equal(owners, clusters) && metav1.GetControllerOf(u) == nil
	})
}

// nudge has the operator look at a cluster now.
func (e *monitoredEnv) nudge(t *testing.T, name string) {
	t.Helper()
	c := e.read(t, name)
	must(t, e.Patch(t.Context(), c, client.RawPatch(types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"annotations":{"test":%q}}}`, time.Now()))))
}

func (e *monitoredEnv) missed(t *testing.T, name, message string) {
	t.Helper()
	await(t, name+" says what is missing", func() error {
		c := meta.FindStatusCondition(e.read(t, name).Status.Conditions, v1beta2.ConditionDegraded)
		if c == nil || !strings.Contains(c.Message, message) || !strings.Contains(c.Message, "spec.monitoring.mode") {
			return fmt.Errorf("condition %+v", c)
		}
		return nil
	})
}

func (e *monitoredEnv) notMissed(t *testing.T, name string) {
	t.Helper()
	await(t, name+" misses nothing", func() error {
		c := meta.FindStatusCondition(e.read(t, name).Status.Conditions, v1beta2.ConditionDegraded)
		if c == nil || strings.Contains(c.Message, "spec.monitoring.mode") {
			return fmt.Errorf("condition %+v", c)
		}
		return nil
	})
}
