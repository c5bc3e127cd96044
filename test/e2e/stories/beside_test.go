package stories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// besideAnother installs a second operator that looks after everything, too: it acts on nothing while the first one is there,
// takes its place when that is gone, and keeps it when that comes back, until it is removed itself.
func (s *trial) besideAnother() {
	s.operatedBy(harness.OperatorNamespace)
	s.installBeside()
	s.leftAlone(harness.BesideNamespace, harness.OperatorNamespace)
	pod := s.follower()
	must(s.t, s.KillPod(s.t.Context(), pod.Name))
	must(s.t, s.Recovered(s.t.Context(), pod.UID, limit))
	s.operatedBy(harness.OperatorNamespace)
	s.hasNotActed(harness.BesideNamespace)

	s.breaking()
	s.scaleFirst("0")
	s.resize(5)
	s.followedBy(harness.BesideNamespace)
	s.noticing()
	s.recover()

	s.scaleFirst("1")
	s.leftAlone(harness.OperatorNamespace, harness.BesideNamespace)
	s.operatedBy(harness.BesideNamespace)
	s.hasNotActed(harness.OperatorNamespace)
	must(s.t, env.RemoveBeside(s.t.Context()))
	s.resize(3)
	s.followedBy(harness.OperatorNamespace)
	must(s.t, s.Healthy(s.t.Context(), limit))
}

// installBeside installs the second operator until the story ends.
func (s *trial) installBeside() {
	s.t.Helper()
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := env.RemoveBeside(ctx); err != nil {
			s.t.Error(err)
		}
	})
	must(s.t, env.DeployBeside(s.t.Context()))
}

// scaleFirst says how many processes the first operator has, until the story ends, and waits for them.
func (s *trial) scaleFirst(replicas string) {
	s.t.Helper()
	scale := func(ctx context.Context, replicas string) error {
		return env.Run(ctx, "scale", "-n", harness.OperatorNamespace, "deployment/"+operatorDeployment, "--replicas="+replicas)
	}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := scale(ctx, "1"); err != nil {
			s.t.Error(err)
		}
	})
	must(s.t, scale(s.t.Context(), replicas))
	must(s.t, harness.Await(s.t.Context(), replicas+" operators", limit, func(ctx context.Context) (string, bool) {
		pods, err := operators(ctx)
		ready := len(pods) - len(slices.DeleteFunc(slices.Clone(pods), isReady))
		return fmt.Sprintf("%d operators, %d ready, %v", len(pods), ready, err),
			err == nil && fmt.Sprint(len(pods)) == replicas && ready == len(pods)
	}))
}

// operator is the namespace of the operator that the cluster says acts on it.
func (s *trial) operator(ctx context.Context) (string, error) {
	object, err := s.Cluster.Get(ctx)
	if err != nil || object.Status.Operator == nil {
		return "", err
	}
	return object.Status.Operator.Namespace, nil
}

func (s *trial) operatedBy(namespace string) {
	s.t.Helper()
	if by, err := s.operator(s.t.Context()); err != nil || by != namespace {
		s.t.Fatalf("the operator in %q acts on the cluster, %v; want that in %s", by, err, namespace)
	}
}

// followedBy waits until another operator acts on the cluster.
func (s *trial) followedBy(namespace string) {
	s.t.Helper()
	start := time.Now()
	must(s.t, harness.Await(s.t.Context(), "the operator in "+namespace+" acts", limit, func(ctx context.Context) (string, bool) {
		by, err := s.operator(ctx)
		return fmt.Sprintf("that in %q does, %v", by, err), err == nil && by == namespace
	}))
	s.t.Logf("the operator in %s acts on the cluster after %.1f s", namespace, time.Since(start).Seconds())
}

// leftAlone waits until an operator has recorded that another one reconciles the cluster.
func (s *trial) leftAlone(by, to string) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "the operator in "+by+" stands back", limit, func(ctx context.Context) (string, bool) {
		events, err := env.Kube.EventsV1().Events(s.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("%d events", len(events.Items)), slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool {
			return e.Reason == v1beta2.ReasonOperatedByAnother && e.Type == corev1.EventTypeWarning && e.Regarding.Name == s.Name &&
				strings.Contains(e.Note, "Lease "+to+"/") && strings.Contains(e.Note, "which has "+by+"/")
		})
	}))
}

// hasNotActed wants the operator there to have noticed the cluster, and to have done nothing since it was started.
func (s *trial) hasNotActed(namespace string) {
	s.t.Helper()
	pods := &corev1.PodList{}
	must(s.t, env.List(s.t.Context(), pods, client.InNamespace(namespace)))
	for _, p := range pods.Items {
		said, err := env.Kube.CoreV1().Pods(namespace).GetLogs(p.Name, &corev1.PodLogOptions{}).DoRaw(s.t.Context())
		must(s.t, err)
		for line := range strings.Lines(string(said)) {
			if strings.Contains(line, s.Namespace) && strings.Contains(line, `"action"`) {
				s.t.Errorf("the operator in %s acts: %s", namespace, line)
			}
		}
		if !strings.Contains(string(said), "another operator reconciles this object") {
			s.t.Errorf("the operator in %s has noticed nothing: %s", namespace, said)
		}
	}
}

// withoutLease has the first operator go on without a Lease, so that it claims nothing, until the story ends.
func (s *trial) withoutLease() {
	s.t.Helper()
	const elects = "--leader-elect"
	set := func(ctx context.Context, change func(args []string) []string) error {
		deployment := &appsv1.Deployment{}
		name := client.ObjectKey{Namespace: harness.OperatorNamespace, Name: operatorDeployment}
		if err := env.Client.Get(ctx, name, deployment); err != nil {
			return err
		}
		before := deployment.DeepCopy()
		manager := &deployment.Spec.Template.Spec.Containers[0]
		manager.Args = change(manager.Args)
		if err := env.Patch(ctx, deployment, client.MergeFrom(before)); err != nil {
			return err
		}
		return env.Run(ctx, "rollout", "status", "--timeout=2m", "-n", name.Namespace, "deployment/"+name.Name)
	}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		err := set(ctx, func(args []string) []string {
			if slices.Contains(args, elects) {
				return args
			}
			return append(args, elects)
		})
		if err != nil {
			s.t.Error(err)
		}
	})
	must(s.t, set(s.t.Context(), func(args []string) []string {
		return slices.DeleteFunc(args, func(arg string) bool { return arg == elects })
	}))
	must(s.t, harness.Await(s.t.Context(), "the operator that had the Lease is gone", limit, func(ctx context.Context) (string, bool) {
		pods, err := operators(ctx)
		return fmt.Sprintf("%d operators, %v", len(pods), err), err == nil && !slices.ContainsFunc(pods, func(p corev1.Pod) bool {
			return slices.Contains(p.Spec.Containers[0].Args, elects)
		})
	}))
}

// freed takes the claim off the cluster, as people do: whoever has no Lease may act on it.
func (s *trial) freed() {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"operator":null}}`))
	must(s.t, env.Status().Patch(s.t.Context(), object, patch))
}

// second runs one more operator, without a Lease.
func (s *trial) second() {
	s.t.Helper()
	pods, err := operators(s.t.Context())
	must(s.t, err)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "second-operator", Namespace: harness.OperatorNamespace}}
	pod.Spec = *pods[0].Spec.DeepCopy()
	pod.Spec.NodeName = ""
	manager := &pod.Spec.Containers[0]
	manager.Args = slices.DeleteFunc(manager.Args, func(arg string) bool { return arg == "--leader-elect" })
	pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Projected != nil })
	manager.VolumeMounts = nil
	must(s.t, env.Create(s.t.Context(), pod))
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := env.Delete(ctx, pod); err != nil {
			s.t.Error(err)
		}
	})
	key := client.ObjectKeyFromObject(pod)
	must(s.t, harness.Await(s.t.Context(), "the second operator is ready", limit, func(ctx context.Context) (string, bool) {
		err := s.Client.Get(ctx, key, pod)
		return fmt.Sprintf("%s, %v", pod.Status.Phase, err), err == nil && isReady(*pod)
	}))
}
