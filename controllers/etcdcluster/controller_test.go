package etcdcluster_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdcluster"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/controllers/internal/monitoring"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

const namespace = "test"

// ownPods are the operator's in these tests.
var ownPods = resources.OperatorPods{
	Namespace: "etcd-operator-system", Labels: map[string]string{"app.kubernetes.io/name": "etcd-operator"},
}

var must, await = controllertest.Must, controllertest.Await

// TestEtcdClusterOnARealAPIServer runs the operator under its own role, in a namespace that enforces the restricted Pod
// Security Standard. There is no kubelet: the test says itself that pods run.
func TestEtcdClusterOnARealAPIServer(t *testing.T) {
	ctrl.SetLogger(testr.NewWithOptions(t, testr.Options{Verbosity: 1}))
	config := testenv.Start(t)
	admin := testenv.Client(t, config)
	controllertest.InstallRoles(t, admin)
	must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}))
	e := &env{t, admin}
	e.leaveLegacy(t)
	startOperator(t, config)

	t.Run("what coreos/etcd-operator runs", e.legacyAlive)
	t.Run("what coreos/etcd-operator has run", e.legacyGone)
	t.Run("coreos/etcd-operator that still acts", e.legacyBeside)
	t.Run("a configuration that is mended before the first start", e.mendedConfig)
	t.Run("an edit while the operator was away", e.editedWhileAway)
	t.Run("bootstrap", e.bootstrap)
	t.Run("a first start that the operator before began", e.formerStatus)
	t.Run("what is observed", e.logsObserved)
	t.Run("a spec that cannot work is answered and can be mended", e.badVersion)
	t.Run("an answer that is too long for an event", e.wordy)
	t.Run("a Service of somebody else", e.nameTaken)
	t.Run("Services", e.services)
	t.Run("TLS with certificates by the operator", e.managedTLS)
	t.Run("TLS with certificates of the user", e.staticTLS)
	t.Run("TLS with authorities by cert-manager", e.issuedTLS)
	t.Run("TLS with certificates for many users", e.manyCertificates)
	t.Run("the NetworkPolicy", e.networkPolicy)
	t.Run("a NetworkPolicy of somebody else", e.foreignPolicy)
	t.Run("a pod that a policy denies", e.deniedPod)
	t.Run("a volume that was written meanwhile", e.writtenVolume)
	t.Run("a cluster that starts from a snapshot", e.fromSnapshot)
	t.Run("a cluster that would wait for ever", e.waitsInVain)
	t.Run("data that is replaced", e.replacesData)
	t.Run("restores that are called off", e.callsOff)
	t.Run("a restore that cannot be called off", e.continues)
	t.Run("size follows the scale subresource's selector", e.selector)
}

type env struct {
	t *testing.T
	client.Client
}

// startOperator returns what the operator knows of Prometheus Operator's objects, so that a test need not wait for its next look.
func startOperator(t *testing.T, config *rest.Config, namespaces ...string) *monitoring.Objects {
	t.Helper()
	mgr := controllertest.NewManager(t, config, namespaces...)
	monitored := &monitoring.Objects{Live: mgr.GetAPIReader(), Namespaces: namespaces}
	must(t, mgr.Add(manager.RunnableFunc(monitored.Keep)))
	pool := etcd.NewPool()
	t.Cleanup(pool.Close)
	must(t, (&etcdcluster.Reconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("test"), Etcd: pool,
		Reservations: controllertest.KeeperOf(mgr), Clock: clock.RealClock{}, OperatorImage: "operator:test", Concurrency: 4,
		Namespaces: namespaces, OwnPods: ownPods, Monitoring: monitored,
	}).SetupWithManager(t.Context(), mgr))
	controllertest.Start(t, mgr)
	return monitored
}

func (e *env) bootstrap(t *testing.T) {
	e.cluster(t, "boot", v1beta2.EtcdClusterSpec{Size: 3})
	pods := e.podsOf(t, "boot", 3)
	for _, pod := range pods {
		if pod.Annotations[member.PermitAnnotation] != "" {
			t.Errorf("%s has a permit before it is seated", pod.Name)
		}
		owner := metav1.GetControllerOf(&pod)
		if owner == nil || owner.Kind != "EtcdCluster" || owner.Name != "boot" {
			t.Errorf("%s is controlled by %v", pod.Name, owner)
		}
		if pod.Labels["app"] != "etcd" || pod.Labels["etcd_cluster"] != "boot" || pod.Labels["etcd_node"] != pod.Name {
			t.Errorf("%s carries the labels %v", pod.Name, pod.Labels)
		}
	}
	for _, name := range []string{"boot", "boot-client"} {
		await(t, "Service "+name, func() error {
			return e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &corev1.Service{})
		})
	}
	for i := range pods {
		e.runs(t, &pods[i], fmt.Sprintf("127.0.0.%d", 10+i))
	}
	await(t, "permits for the seated pods", func() error {
		for _, pod := range e.podsOf(t, "boot", 3) {
			permit, err := member.ParsePermit(pod.Annotations[member.PermitAnnotation])
			if err != nil {
				return err
			}
			if permit.Mode != member.ModeNew || permit.PodUID != string(pod.UID) || permit.Attempt != 1 {
				return fmt.Errorf("permit %+v of pod %s", permit, pod.UID)
			}
		}
		return nil
	})
	object := e.read(t, "boot")
	if b := object.Status.Bootstrap; b == nil || len(b.Seats) != 3 || object.Status.Phase != v1beta2.ClusterPhaseCreating {
		t.Errorf("status: %+v", object.Status)
	}
	err := e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "boot"}, &policyv1.PodDisruptionBudget{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("there is a budget before there are voters: %v", err)
	}
}

func (e *env) badVersion(t *testing.T) {
	e.cluster(t, "old", v1beta2.EtcdClusterSpec{Size: 1, Version: "3.2.13"})
	e.says(t, "old", v1beta2.ReasonUnsupportedVersion, "too old")
	object := e.read(t, "old")
	object.Spec.Version = "3.6.16"
	must(t, e.Update(t.Context(), object))
	e.podsOf(t, "old", 1)
}

// wordy has more to say of a spec than an event holds: as much is recorded as there is room for.
func (e *env) wordy(t *testing.T) {
	options := map[string]string{}
	for i := range 50 {
		options[fmt.Sprintf("no-option-of-etcd-%d", i)] = "x"
	}
	e.cluster(t, "wordy", v1beta2.EtcdClusterSpec{Size: 1, Etcd: &v1beta2.EtcdOptions{ExtraArgs: options}})
	e.says(t, "wordy", v1beta2.ReasonInvalidOption, "no-option-of-etcd-49")
	await(t, "an event", func() error {
		list := &eventsv1.EventList{}
		must(t, e.List(t.Context(), list, client.InNamespace(namespace)))
		for _, event := range list.Items {
			if event.Regarding.Name == "wordy" && event.Reason == v1beta2.ReasonInvalidOption && strings.HasSuffix(event.Note, "…") {
				return nil
			}
		}
		return fmt.Errorf("there are %d events, and none of it", len(list.Items))
	})
}

func (e *env) nameTaken(t *testing.T) {
	must(t, e.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "taken-client"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}))
	e.cluster(t, "taken", v1beta2.EtcdClusterSpec{Size: 1})
	e.says(t, "taken", v1beta2.ReasonNameTaken, "Service taken-client belongs to no controller")
}

func (e *env) selector(t *testing.T) {
	if got := e.read(t, "boot").Status.Selector; got != "app=etcd,etcd_cluster=boot" {
		t.Errorf("selector %q", got)
	}
}

func (e *env) cluster(t *testing.T, name string, spec v1beta2.EtcdClusterSpec) {
	t.Helper()
	must(t, e.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec,
	}))
}

func (e *env) read(t *testing.T, name string) *v1beta2.EtcdCluster {
	t.Helper()
	object := &v1beta2.EtcdCluster{}
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object))
	return object
}

// podsOf waits until the cluster has exactly n pods.
func (e *env) podsOf(t *testing.T, cluster string, n int) []corev1.Pod {
	t.Helper()
	pods := &corev1.PodList{}
	await(t, fmt.Sprintf("%d pods of %s", n, cluster), func() error {
		err := e.List(t.Context(), pods, client.InNamespace(namespace), client.MatchingLabels{"etcd_cluster": cluster})
		if err == nil && len(pods.Items) != n {
			err = fmt.Errorf("%d pods; %+v", len(pods.Items), e.read(t, cluster).Status.Conditions)
		}
		return err
	})
	return pods.Items
}

// runs says what a kubelet would say of a pod whose container runs.
func (e *env) runs(t *testing.T, pod *corev1.Pod, ip string) {
	t.Helper()
	pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, ip
	pod.Status.PodIPs = []corev1.PodIP{{IP: ip}}
	must(t, e.Status().Update(t.Context(), pod))
}

func (e *env) says(t *testing.T, name, reason, message string) {
	t.Helper()
	await(t, name+" says "+reason, func() error {
		c := meta.FindStatusCondition(e.read(t, name).Status.Conditions, v1beta2.ConditionProgressing)
		if c == nil || c.Reason != reason || !strings.Contains(c.Message, message) {
			return fmt.Errorf("condition %+v", c)
		}
		return nil
	})
}
