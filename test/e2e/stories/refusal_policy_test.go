package stories

import (
	"context"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

var policyFaults = []fault{
	{
		family: "refusal", name: "denied-label", title: "a label that a policy denies to pods, a pod deleted meanwhile, and back",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			const words = "nobody is the forbidden team"
			before, pods := s.identities(), s.uids()
			deny(s.t, s.Namespace, rule{
				resource: "pods", operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}, message: words,
				allowed: `!has(object.metadata.labels) || !('team' in object.metadata.labels) || object.metadata.labels['team'] != 'forbidden'`,
			})
			s.refuses(words, s.tries(func(pod *corev1.Pod) { pod.Labels = map[string]string{"team": "forbidden"} }))
			s.breaking()
			s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Labels = map[string]string{"team": "forbidden"} })
			s.onlyRefused("the labels and annotations of Pod "+s.Name, words)
			s.serves(s.names("")...)
			s.unchanged("pods", pods, s.uids())
			s.comesBack(s.follower())
			s.onlyRefused(words)
			s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Labels = nil })
			s.accepted()
			s.serves(s.names("")...)
			s.same(before)
			s.madeAtMost(4, memberPods)
		},
	},
	{
		family: "refusal", name: "denied-image", title: "another version where a policy denies changes of images, a pod deleted meanwhile, and back",
		spec:   ofVersion("3.6.15"),
		breaks: (*trial).keepsItsImage,
	},
	{
		family: "refusal", name: "denied-budget", title: "a first start where a policy denies PodDisruptionBudgets, a pod deleted meanwhile, and the policy gone",
		spec:   v1beta2.EtcdClusterSpec{Size: 1},
		breaks: (*trial).startsWithoutBudget,
	},
	{
		family: "refusal", name: "pod-security", title: "a security context that Pod Security forbids, a pod deleted meanwhile, and back",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			before, pods, root := s.identities(), s.uids(), int64(0)
			s.breaking()
			s.edit(func(spec *v1beta2.EtcdClusterSpec) {
				spec.Pod.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &root}
			})
			s.onlyRefused("recreate Pod "+s.Name, `violates PodSecurity "restricted:latest": runAsNonRoot != true`)
			s.serves(s.names("")...)
			s.inServiceFor(awhile)
			s.evictable()
			s.unchanged("pods", pods, s.uids())
			s.comesBack(s.follower())
			s.onlyRefused("violates PodSecurity")
			s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.SecurityContext = nil })
			s.accepted()
			s.serves(s.names("")...)
			s.same(before)
			s.madeAtMost(4, memberPods)
		},
	},
}

// keepsItsImage asks for a version that no member's pod may be changed to.
func (s *trial) keepsItsImage() {
	const words, old, next = "images of running pods stay as they are", "3.6.15", "3.6.16"
	before, pods := s.identities(), s.uids()
	deny(s.t, s.Namespace, rule{
		resource: "pods", operations: []admissionv1.OperationType{admissionv1.Update}, message: words,
		allowed: `object.spec.containers.all(c, oldObject.spec.containers.exists(o, o.name == c.name && o.image == c.image))`,
	})
	target := s.follower()
	s.refuses(words, func(ctx context.Context) error {
		patch := []byte(`{"spec":{"containers":[{"name":"etcd","image":"busybox"}]}}`)
		return env.Patch(ctx, target.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, patch), client.DryRunAll)
	})
	s.breaking()
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = next })
	s.onlyRefused("change the image of Pod "+s.Name, words)
	s.serves(s.names("")...)
	s.inServiceFor(awhile)
	s.evictable()
	s.unchanged("pods", pods, s.uids())
	s.comesBack(target)
	s.onlyRefused(words)
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = old })
	s.accepted()
	// It comes back as it was, although another version was asked for once.
	again := s.comesBack(s.follower())
	s.accepted()
	if got := s.member(again.Name).Version; got != old {
		s.t.Errorf("%s came back with version %s, want %s", again.Name, got, old)
	}
	s.serves(s.names("")...)
	s.same(before)
	s.madeAtMost(5, memberPods)
}

// startsWithoutBudget has a cluster start where it may have no budget.
func (s *trial) startsWithoutBudget() {
	const words = "budgets are for others to make"
	lift := deny(s.t, s.Namespace, rule{
		group: "policy", resource: "poddisruptionbudgets", allowed: "false", message: words,
		operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
	})
	request := func(ctx context.Context) error {
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "never-made"}}
		return env.Create(ctx, budget, client.DryRunAll)
	}
	s.refuses(words, request)
	s.startsAnew(onVolumes(3))
	before := s.identities()
	s.onlyRefused("apply PodDisruptionBudget", words)
	s.serves(s.names("")...)
	s.comesBack(s.follower())
	s.serves(s.names("")...)
	lift()
	allowed := s.allows(request)
	must(s.t, harness.Await(s.t.Context(), "there is a budget", time.Until(allowed.Add(askedWithin)),
		func(ctx context.Context) (string, bool) {
			budget := &policyv1.PodDisruptionBudget{}
			err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Name}, budget)
			return fmt.Sprintf("%v, %v", budget.Spec.MinAvailable, err), err == nil
		}))
	s.accepted()
	s.evictable()
	s.same(before)
	s.madeAtMost(1+3+1, memberPods)
}

// startsAnew deletes the cluster and its client, and starts them again under their names as the spec says, in the world as it is by
// now.
func (s *trial) startsAnew(spec v1beta2.EtcdClusterSpec) {
	s.t.Helper()
	must(s.t, s.writer.Stop(s.t.Context()))
	must(s.t, s.Remove(s.t.Context(), limit))
	s.spec, s.broken = spec, time.Now()
	var err error
	s.Cluster, err = env.NewCluster(s.t.Context(), s.Namespace, s.Name, spec)
	must(s.t, err)
	s.recover()
	s.clientBesideOperator()
}

// inServiceFor checks that all members stay in the client Service for some time.
func (s *trial) inServiceFor(d time.Duration) {
	s.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); s.hold(time.Second) {
		pods, err := s.Pods(s.t.Context())
		must(s.t, err)
		for _, p := range pods {
			if p.Labels[servingLabel] != "true" {
				s.t.Fatalf("%s was taken out of the client Service: labels %v", p.Name, p.Labels)
			}
		}
	}
}

// evictable waits until a member may be evicted, for which nothing must be under way.
func (s *trial) evictable() {
	s.t.Helper()
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	names := make([]string, 0, len(pods))
	for _, p := range pods {
		names = append(names, p.Name)
	}
	must(s.t, harness.Await(s.t.Context(), fmt.Sprintf("one of %v may be evicted", names), askedWithin,
		func(ctx context.Context) (string, bool) {
			err := env.Kube.PolicyV1().Evictions(s.Namespace).Evict(ctx, &policyv1.Eviction{
				ObjectMeta:    metav1.ObjectMeta{Namespace: s.Namespace, Name: slices.Max(names)},
				DeleteOptions: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}},
			})
			return fmt.Sprint(err), err == nil
		}))
}
