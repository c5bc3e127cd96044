package olm

import (
	"context"
	"fmt"
	"slices"
	"testing"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// subscribed is the name of the story's own Subscription.
const subscribed = packageName

// story is one installation of the operator, in a namespace of its own, that ends with the test.
type story struct {
	*harness.Env
	t *testing.T
	// namespace is where the operator is installed.
	namespace string
}

// begin makes the namespace that the operator is to be installed in.
func begin(t *testing.T, name string) *story {
	t.Helper()
	s := &story{Env: env, t: t, namespace: "olm-" + name}
	s.newNamespace(s.namespace)
	t.Cleanup(func() {
		if t.Failed() {
			s.describe()
		}
	})
	return s
}

// newNamespace makes a namespace that goes with all that is in it before the next story begins: two installations that
// watch the same namespace would be in each other's way.
func (s *story) newNamespace(name string) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "the namespace of an earlier run is gone", limit, s.Absent(name)))
	must(s.t, s.Namespace(s.t.Context(), name))
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := s.RemoveNamespace(ctx, name, limit); err != nil {
			s.t.Error(err)
		}
	})
}

// unrestricted lifts the Pod Security Standard from a namespace.
func (s *story) unrestricted(namespace string) {
	s.t.Helper()
	must(s.t, env.Run(s.t.Context(), "label", "namespace", namespace, "pod-security.kubernetes.io/enforce-"))
}

// install goes the way of most: a catalog, an OperatorGroup for all namespaces, a Subscription.
func (s *story) install(catalog string, r release) {
	s.t.Helper()
	s.catalog("ours", catalog)
	s.group()
	s.subscribe(subscribed, "ours", v1alpha1.ApprovalAutomatic)
	s.succeeded(r)
}

// catalog adds a CatalogSource and waits until it answers.
func (s *story) catalog(name, image string) {
	s.t.Helper()
	source := &v1alpha1.CatalogSource{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: v1alpha1.CatalogSourceSpec{
			SourceType: v1alpha1.SourceTypeGrpc, Image: image, DisplayName: name, Publisher: "etcd-operator",
			GrpcPodConfig: &v1alpha1.GrpcPodConfig{SecurityContextConfig: v1alpha1.Restricted},
		},
	}
	must(s.t, s.Create(s.t.Context(), source))
	must(s.t, harness.Await(s.t.Context(), "catalog "+name+" answers", limit, func(ctx context.Context) (string, bool) {
		err := s.Get(ctx, client.ObjectKeyFromObject(source), source)
		state := source.Status.GRPCConnectionState
		return fmt.Sprintf("%s %+v, %v", source.Status.Message, state, err), state != nil && state.LastObservedState == "READY"
	}))
}

// offer gives the catalog another content, as whoever publishes a release does.
func (s *story) offer(name, image string) {
	s.t.Helper()
	source := &v1alpha1.CatalogSource{}
	must(s.t, s.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, source))
	before := source.DeepCopy()
	source.Spec.Image = image
	must(s.t, s.Patch(s.t.Context(), source, client.MergeFrom(before)))
}

// group adds an OperatorGroup: the operator is for these namespaces, or for all.
func (s *story) group(targets ...string) {
	s.t.Helper()
	must(s.t, s.Create(s.t.Context(), &operatorsv1.OperatorGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: packageName},
		Spec:       operatorsv1.OperatorGroupSpec{TargetNamespaces: targets},
	}))
}

// subscribe asks for the operator, from one catalog.
func (s *story) subscribe(name, catalog string, approval v1alpha1.Approval) {
	s.t.Helper()
	must(s.t, s.Create(s.t.Context(), &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: &v1alpha1.SubscriptionSpec{
			CatalogSource: catalog, CatalogSourceNamespace: s.namespace, Package: packageName,
			InstallPlanApproval: approval,
		},
	}))
}

// subscription reads the Subscription of that name.
func (s *story) subscription(ctx context.Context, name string) (*v1alpha1.Subscription, error) {
	object := &v1alpha1.Subscription{}
	return object, s.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, object)
}

// csv reads the ClusterServiceVersion of a release.
func (s *story) csv(ctx context.Context, r release) (*v1alpha1.ClusterServiceVersion, error) {
	object := &v1alpha1.ClusterServiceVersion{}
	return object, s.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: r.csv}, object)
}

// succeeded waits until OLM says that a release is installed and is the only one.
func (s *story) succeeded(r release) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), r.csv+" succeeded", limit, func(ctx context.Context) (string, bool) { return s.alone(ctx, r) }))
}

// alone reports whether a release is installed and is the only one, and what was seen.
func (s *story) alone(ctx context.Context, r release) (seen string, alone bool) {
	list := &v1alpha1.ClusterServiceVersionList{}
	if err := s.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
		return err.Error(), false
	}
	for _, c := range list.Items {
		seen += fmt.Sprintf("%s is %s (%s: %s) ", c.Name, c.Status.Phase, c.Status.Reason, c.Status.Message)
		alone = c.Name == r.csv && c.Status.Phase == v1alpha1.CSVPhaseSucceeded
	}
	return seen, alone && len(list.Items) == 1
}

// subscribeAgain subscribes where an InstallPlan was deleted a moment ago, and waits until the release is installed. OLM may still
// have that plan in its cache, and then the Subscription names a plan that is gone for good, and may call the release installed before it says so:
// it is created once more.
func (s *story) subscribeAgain(r release, catalog string) {
	s.t.Helper()
	s.subscribe(subscribed, catalog, v1alpha1.ApprovalAutomatic)
	must(s.t, harness.Await(s.t.Context(), r.csv+" installed", limit, func(ctx context.Context) (string, bool) {
		u, err := s.subscription(ctx, subscribed)
		if err != nil {
			return err.Error(), false
		}
		missing := u.Status.GetCondition(v1alpha1.SubscriptionInstallPlanMissing).Status == corev1.ConditionTrue
		if missing {
			must(s.t, s.Delete(ctx, u))
			s.subscribe(subscribed, catalog, v1alpha1.ApprovalAutomatic)
		}
		seen, alone := s.alone(ctx, r)
		return fmt.Sprintf("%s; %+v", seen, u.Status.Conditions), !missing && alone
	}))
}

// plan waits for the InstallPlan that installs a release.
func (s *story) plan(r release, holds func(*v1alpha1.InstallPlan) bool) *v1alpha1.InstallPlan {
	s.t.Helper()
	var found *v1alpha1.InstallPlan
	must(s.t, harness.Await(s.t.Context(), "an InstallPlan of "+r.csv, limit, func(ctx context.Context) (string, bool) {
		list := &v1alpha1.InstallPlanList{}
		if err := s.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			return err.Error(), false
		}
		seen := ""
		for _, p := range list.Items {
			seen += fmt.Sprintf("%s installs %v: %s %s ", p.Name, p.Spec.ClusterServiceVersionNames, p.Status.Phase, p.Status.Message)
			if slices.Contains(p.Spec.ClusterServiceVersionNames, r.csv) && holds(&p) {
				found = &p
			}
		}
		return seen, found != nil
	}))
	return found
}

// uninstall removes the operator as users are told to: the Subscription and the ClusterServiceVersion.
func (s *story) uninstall(r release) {
	s.t.Helper()
	must(s.t, s.Delete(s.t.Context(), &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: subscribed},
	}))
	must(s.t, client.IgnoreNotFound(s.Delete(s.t.Context(), &v1alpha1.ClusterServiceVersion{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: r.csv},
	})))
	must(s.t, harness.Await(s.t.Context(), "no operator is left", limit, func(ctx context.Context) (string, bool) {
		pods, err := s.operators(ctx)
		return fmt.Sprintf("%d pods, %v", len(pods), err), err == nil && len(pods) == 0
	}))
}
