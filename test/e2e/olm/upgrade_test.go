package olm

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestUpgrade takes the operator to its next version below two running clusters, of which one has a client: no member
// notices.
func TestUpgrade(t *testing.T) {
	begin(t, "upgrade").upgrades(offered{previous, older}, offered{this, ours})
}

// offered is a release, and a catalog that has it as its highest version.
type offered struct {
	release
	catalog string
}

func (s *story) upgrades(from, to offered) {
	s.t.Helper()
	s.install(from.catalog, from.release)
	c, other := s.cluster("busy", harness.OnVolumes(3)), s.cluster("idle", v1beta2.EtcdClusterSpec{Size: 1})
	c.client()
	former, err := s.leader(s.t.Context())
	must(s.t, err)
	before, beside := c.lives(), other.lives()

	s.offer("ours", to.catalog)
	s.succeeded(to.release)
	must(s.t, harness.Await(s.t.Context(), "the new operator leads", limit, func(ctx context.Context) (string, bool) {
		leader, err := s.leader(ctx)
		pods, more := s.operators(ctx)
		return fmt.Sprintf("%s leads, was %s, %d pods, %v, %v", leader, former, len(pods), err, more),
			leader != "" && leader != former && len(pods) == 1 && pods[0].Name == leader
	}))
	// What the new operator thinks of the clusters it says by carrying an edit out.
	other.resize(3)
	c.settled()
	c.judge("the operator updated", true)
	c.untouched("the operator updated", before)
	if err := other.LivedOn(s.t.Context(), beside); err != nil {
		s.t.Error(err)
	}
	c.resize(5)
	c.judge("grown by the new operator", false)
	s.allowed()
}

// slowly has each member take 75 s to start, by a container that comes before: OLM has the time to find a new version.
const slowly = `{"spec": {"initContainers": [{
	"name": "slowly", "image": "busybox", "command": ["sleep", "75"],
	"securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}
}]}}`

// TestUpgradeable publishes a new version in the middle of a roll: OLM waits until that is over.
func TestUpgradeable(t *testing.T) {
	s := begin(t, "upgradeable")
	s.install(older, previous)
	s.upgradeable(metav1.ConditionTrue, "")
	c := s.cluster("rolls", harness.OnVolumes(3))
	c.client()
	must(t, c.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.Pod.Template = &runtime.RawExtension{Raw: []byte(slowly)}
	}))
	s.upgradeable(metav1.ConditionFalse, c.Name)

	s.offer("ours", ours)
	must(t, harness.Await(t.Context(), "OLM waits", limit, func(ctx context.Context) (string, bool) {
		csv, err := s.csv(ctx, this)
		return fmt.Sprintf("%s (%s: %s), %v", csv.Status.Phase, csv.Status.Reason, csv.Status.Message, err),
			csv.Status.Phase == v1alpha1.CSVPhasePending &&
				csv.Status.Reason == v1alpha1.CSVReasonOperatorConditionNotUpgradeable &&
				strings.Contains(csv.Status.Message, c.Name)
	}))
	must(t, c.Updated(t.Context(), limit))
	must(t, c.Settled(t.Context(), limit))
	object, err := c.Get(t.Context())
	must(t, err)
	ended := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionProgressing).LastTransitionTime
	s.succeeded(this)
	var operators []corev1.Pod
	must(t, harness.Await(t.Context(), "one operator", limit, func(ctx context.Context) (string, bool) {
		operators, err = s.operators(ctx)
		return fmt.Sprintf("%d operators, %v", len(operators), err), err == nil && len(operators) == 1
	}))
	if made := operators[0].CreationTimestamp; made.Before(&ended) {
		t.Errorf("the roll ended at %s, and the new operator was there at %s", ended, made)
	}
	c.settled()
	c.judge("the roll and the update", false)
}

// upgradeable waits until the previous version's operator tells OLM so, and why.
func (s *story) upgradeable(status metav1.ConditionStatus, says string) {
	s.t.Helper()
	condition := &operatorsv2.OperatorCondition{}
	what := fmt.Sprintf("Upgradeable is %s", status)
	must(s.t, harness.Await(s.t.Context(), what, limit, func(ctx context.Context) (string, bool) {
		err := s.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: previous.csv}, condition)
		found := meta.FindStatusCondition(condition.Spec.Conditions, operatorsv2.Upgradeable)
		return fmt.Sprintf("%+v, %v", found, err),
			found != nil && found.Status == status && strings.Contains(found.Message, says)
	}))
}

// TestUninstall removes the operator below a running cluster and installs it again: the cluster, its data and its clients
// know nothing of it.
func TestUninstall(t *testing.T) {
	s := begin(t, "uninstall")
	s.install(ours, this)
	c := s.cluster("stays", harness.OnVolumes(3))
	c.puts("kept", 10)
	c.client()
	before := c.lives()

	s.uninstall(this)
	c.has("kept", 10)
	c.untouched("the operator gone", before)
	c.judge("the operator gone", true)

	s.subscribe(subscribed, "ours", v1alpha1.ApprovalAutomatic)
	s.succeeded(this)
	must(t, harness.Await(t.Context(), "the new operator leads", limit, func(ctx context.Context) (string, bool) {
		leader, err := s.leader(ctx)
		said, more := s.OperatorLogs(ctx, s.namespace)
		return fmt.Sprintf("%q, %v, %v", leader, err, more), strings.Contains(said, "starting") && leader != ""
	}))
	must(t, c.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Labels = map[string]string{"seen": "again"} }))
	c.settled()
	c.untouched("the operator back", before)
	c.judge("the operator back", true)
	c.has("kept", 10)
	c.kill()
	c.judge("a member killed below the new operator", false)
}
