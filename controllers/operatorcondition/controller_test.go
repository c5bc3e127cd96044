package operatorcondition_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/testr"
	"github.com/operator-framework/api/crds"
	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	"github.com/operator-framework/operator-lib/conditions"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/controllers/operatorcondition"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

var must, await = controllertest.Must, controllertest.Await

// ofOLM is where OLM has put the operator, and the name that it has given the OperatorCondition.
var ofOLM = client.ObjectKey{Namespace: "etcd-operator-system", Name: "etcd-operator.v0.1.0"}

// inCluster is what operator-lib makes in a pod, where it reads the namespace from the pod's files.
type inCluster struct{ client.Client }

func (c inCluster) Get(ctx context.Context) (*metav1.Condition, error) {
	object := &operatorsv2.OperatorCondition{}
	err := c.Client.Get(ctx, ofOLM, object)
	return meta.FindStatusCondition(object.Spec.Conditions, operatorsv2.Upgradeable), err
}

func (c inCluster) Set(ctx context.Context, status metav1.ConditionStatus, options ...conditions.Option) error {
	object := &operatorsv2.OperatorCondition{}
	if err := c.Client.Get(ctx, ofOLM, object); err != nil {
		return err
	}
	condition := metav1.Condition{Type: operatorsv2.Upgradeable, Status: status}
	for _, option := range options {
		option(&condition)
	}
	meta.SetStatusCondition(&object.Spec.Conditions, condition)
	return c.Update(ctx, object)
}

// TestOperatorCondition has the operator tell OLM when to wait, with no more rights than OLM grants.
func TestOperatorCondition(t *testing.T) {
	ctrl.SetLogger(testr.NewWithOptions(t, testr.Options{Verbosity: 1}))
	config := testenv.Start(t)
	admin := testenv.Client(t, config)
	must(t, operatorsv2.AddToScheme(admin.Scheme()))
	controllertest.InstallRoles(t, admin)
	installOperatorCondition(t, config, admin)
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: ofOLM.Namespace, Name: "c"}}
	c.Spec.Size = 3
	must(t, admin.Create(t.Context(), c))

	own, err := client.New(controllertest.AsOperator(config), client.Options{Scheme: admin.Scheme()})
	must(t, err)
	mgr := controllertest.NewManager(t, config)
	must(t, (&operatorcondition.Reconciler{
		Client: mgr.GetClient(), Upgradeable: inCluster{own}, Clock: clock.RealClock{},
	}).SetupWithManager(mgr))
	controllertest.Start(t, mgr)

	upgradeable := func(want metav1.ConditionStatus, reason, message string) *operatorsv2.OperatorCondition {
		t.Helper()
		object := &operatorsv2.OperatorCondition{}
		await(t, "Upgradeable to be "+string(want), func() error {
			must(t, admin.Get(t.Context(), ofOLM, object))
			got := meta.FindStatusCondition(object.Spec.Conditions, operatorsv2.Upgradeable)
			if got == nil || got.Status != want || got.Reason != reason || !strings.Contains(got.Message, message) {
				return fmt.Errorf("it is %+v", got)
			}
			return nil
		})
		return object
	}
	upgradeable(metav1.ConditionTrue, v1beta2.ReasonAsExpected, "no restore")
	progressing := func(status metav1.ConditionStatus, reason string) {
		t.Helper()
		c.Status.ClusterID, c.Status.CurrentVersion = "c1", "3.6.16"
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
			Type: v1beta2.ConditionProgressing, Status: status, Reason: reason,
		})
		must(t, admin.Status().Update(t.Context(), c))
	}
	progressing(metav1.ConditionTrue, v1beta2.ReasonWaitingForLearner)
	before := upgradeable(metav1.ConditionFalse, v1beta2.ReasonClustersBusy, "EtcdCluster etcd-operator-system/c is adding or removing members")
	c.Status.Leader = "c-0" // news that changes nothing for OLM
	must(t, admin.Status().Update(t.Context(), c))
	c.Status.Size = 3
	progressing(metav1.ConditionFalse, v1beta2.ReasonSpecReached)
	after := upgradeable(metav1.ConditionTrue, v1beta2.ReasonAsExpected, "no restore")
	if after.Generation != before.Generation+1 {
		t.Errorf("it was written %d times for one change", after.Generation-before.Generation)
	}
	restoreRuns(t, admin)
	upgradeable(metav1.ConditionFalse, v1beta2.ReasonClustersBusy, "EtcdCluster etcd-operator-system/c is being restored")
}

// restoreRuns creates an EtcdRestore that has a pod at work.
func restoreRuns(t *testing.T, admin client.Client) {
	t.Helper()
	restore := &v1beta2.EtcdRestore{ObjectMeta: metav1.ObjectMeta{Namespace: ofOLM.Namespace, Name: "r"}}
	restore.Spec.EtcdCluster.Name = "c"
	restore.Spec.Storage = &v1beta2.Storage{URL: "s3://bucket"}
	must(t, admin.Create(t.Context(), restore))
	restore.Status.Phase = v1beta2.RestoreVerifying
	restore.Status.Run = &v1beta2.AgentRun{Pod: "r-verify", Attempt: 1, AttemptStartTime: metav1.Now()}
	must(t, admin.Status().Update(t.Context(), restore))
}

// installOperatorCondition does what OLM does for an operator that it installs.
func installOperatorCondition(t *testing.T, config *rest.Config, admin client.Client) {
	t.Helper()
	_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{
		CRDs: []*apiextensionsv1.CustomResourceDefinition{crds.OperatorCondition()},
	})
	must(t, err)
	must(t, admin.Create(t.Context(), &operatorsv2.OperatorCondition{
		ObjectMeta: metav1.ObjectMeta{Namespace: ofOLM.Namespace, Name: ofOLM.Name},
	}))
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: ofOLM.Namespace, Name: ofOLM.Name},
		Rules: []rbacv1.PolicyRule{{
			Verbs: []string{"get", "update", "patch"}, APIGroups: []string{"operators.coreos.com"},
			Resources: []string{"operatorconditions"}, ResourceNames: []string{ofOLM.Name},
		}},
	}
	must(t, admin.Create(t.Context(), role))
	must(t, admin.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ofOLM.Namespace, Name: ofOLM.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{
			Kind: rbacv1.ServiceAccountKind, Namespace: ofOLM.Namespace, Name: "etcd-operator-controller-manager",
		}},
	}))
}
