package olm

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestTwoCatalogs has two catalogs offer the operator: a Subscription to either works, and one too many is told so and
// does no harm.
func TestTwoCatalogs(t *testing.T) {
	s := begin(t, "catalogs")
	s.catalog("theirs", ours)
	s.install(ours, this)
	c := s.cluster("served", v1beta2.EtcdClusterSpec{Size: 1})
	before := c.lives()

	s.subscribe("once-more", "theirs", v1alpha1.ApprovalAutomatic)
	s.unresolved("once-more", packageName)
	s.succeeded(this)
	must(t, s.Delete(t.Context(), &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "once-more"},
	}))

	s.uninstall(this)
	s.subscribe(subscribed, "nobody", v1alpha1.ApprovalAutomatic)
	s.unresolved(subscribed, "nobody")
	subscription, err := s.subscription(t.Context(), subscribed)
	must(t, err)
	was := subscription.DeepCopy()
	subscription.Spec.CatalogSource = "theirs"
	must(t, s.Patch(t.Context(), subscription, client.MergeFrom(was)))
	s.succeeded(this)
	c.settled()
	c.untouched("installed from the one and the other catalog", before)
}

// unresolved waits until OLM says of a Subscription that it cannot be carried out, and why.
func (s *story) unresolved(name, says string) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), name+" cannot be resolved", limit, func(ctx context.Context) (string, bool) {
		subscription, err := s.subscription(ctx, name)
		if err != nil {
			return err.Error(), false
		}
		failed := subscription.Status.GetCondition(v1alpha1.SubscriptionResolutionFailed)
		return fmt.Sprintf("%+v", failed), failed.Status == corev1.ConditionTrue && strings.Contains(failed.Message, says)
	}))
}

// TestMissingNamespace targets a namespace that comes later: the operator works in the others, and in that one as soon as
// it is there.
func TestMissingNamespace(t *testing.T) {
	const there, later = "olm-missing-there", "olm-missing-later"
	s := begin(t, "missing")
	s.newNamespace(there)
	must(t, harness.Await(t.Context(), "there is no "+later, limit, s.Absent(later)))
	s.catalog("ours", ours)
	s.group(there, later)
	s.subscribe(subscribed, "ours", v1alpha1.ApprovalAutomatic)
	s.succeeded(this)
	s.clusterIn(there, "first", v1beta2.EtcdClusterSpec{Size: 1}).settled()
	s.newNamespace(later)
	s.clusterIn(later, "second", v1beta2.EtcdClusterSpec{Size: 1}).settled()
	pods, err := s.operators(t.Context())
	must(t, err)
	for _, p := range pods {
		for _, status := range p.Status.ContainerStatuses {
			if status.RestartCount > 0 {
				t.Errorf("the operator was restarted %d times", status.RestartCount)
			}
		}
	}
}

// TestPlainKubernetes is one without a metrics API, without Pod Security and without StorageClasses: a cluster without
// volumes works, and one that needs them says so, and works as soon as there are some.
func TestPlainKubernetes(t *testing.T) {
	const plain = "olm-plain-unlabelled"
	s := begin(t, "plain")
	groups, err := s.Kube.Discovery().ServerGroups()
	must(t, err)
	for _, g := range groups.Groups {
		if g.Name == "metrics.k8s.io" {
			t.Fatal("this story is about a Kubernetes without the group metrics.k8s.io")
		}
	}
	s.newNamespace(plain)
	s.unrestricted(plain)
	s.install(ours, this)
	giveBack := s.takeClasses()
	s.clusterIn(plain, "frugal", v1beta2.EtcdClusterSpec{Size: 3}).settled()
	needy := s.clusterIn(plain, "needy", harness.OnVolumes(1))
	must(t, needy.Says(t.Context(), v1beta2.ConditionProgressing, v1beta2.ReasonPodCannotStart, limit))
	object, err := needy.Get(t.Context())
	must(t, err)
	if !strings.Contains(harness.Words(object), "PersistentVolumeClaim") {
		t.Errorf("conditions do not name the claim: %s", harness.Words(object))
	}
	giveBack()
	needy.settled()
}

// takeClasses removes all StorageClasses until the story ends or the returned function is called. Volumes that are there
// know nothing of it.
func (s *story) takeClasses() (giveBack func()) {
	s.t.Helper()
	classes := &storagev1.StorageClassList{}
	must(s.t, s.List(s.t.Context(), classes))
	giveBack = func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		for _, class := range classes.Items {
			class.ResourceVersion, class.UID = "", ""
			if err := s.Create(ctx, &class); client.IgnoreAlreadyExists(err) != nil {
				s.t.Error(err)
			}
		}
	}
	s.t.Cleanup(giveBack)
	for _, class := range classes.Items {
		must(s.t, s.Delete(s.t.Context(), &class))
	}
	return giveBack
}
