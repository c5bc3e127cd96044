package stories

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// staleFor is how long an operator is frozen: it loses its lease, and another one acts meanwhile.
const staleFor = 60 * time.Second

var operatorFaults = []fault{
	{
		family: "operator", name: "killed-growing", title: "the operator killed at every step of 3 to 5",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			s.breaking()
			s.resize(5)
			const kills = 5
			for range kills {
				s.killOperator()
				must(s.t, harness.Await(s.t.Context(), "a step of the new operator", limit, s.someEvent()))
			}
			s.recover()
		},
	},
	{
		family: "operator", name: "killed-adding", title: "the operator killed at the moment a member is added", spec: onVolumes(1),
		breaks: func(s *trial) {
			s.breaking()
			s.resize(3)
			for listed := 2; listed <= 3; listed++ {
				must(s.t, harness.Await(s.t.Context(), fmt.Sprintf("%d members listed", listed), limit, s.listed(listed)))
				s.killOperator()
			}
			s.recover()
		},
	},
	{
		family: "operator", name: "two", title: "a second operator standing by, and the first one killed in mid-scale",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			s.standBy()
			s.breaking()
			s.resize(5)
			must(s.t, harness.Await(s.t.Context(), "a first step", limit, s.someEvent()))
			must(s.t, s.killHolder())
			s.recover()
		},
	},
	{
		family: "operator", name: "stale", title: "the operator frozen for 60 s in mid-scale, another in its place, and thawed",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			s.standBy()
			holder := s.holder()
			container := harness.OperatorNamespace + "/" + holder + "/manager"
			s.t.Cleanup(func() {
				// Its liveness probe may have ended it by now.
				s.t.Logf("thawed again: %v", nodes.Faults().ThawContainer(context.WithoutCancel(s.t.Context()), container))
			})
			s.breaking()
			s.resize(5)
			must(s.t, harness.Await(s.t.Context(), "a first step", limit, s.someEvent()))
			must(s.t, nodes.Faults().FreezeContainer(s.t.Context(), container))
			frozen := time.Now()
			s.recover()
			s.resize(3)
			s.hold(time.Until(frozen.Add(staleFor)))
			must(s.t, nodes.Faults().ThawContainer(s.t.Context(), container))
			must(s.t, s.Healthy(s.t.Context(), limit))
		},
	},
	{
		family: "operator", name: "both-act", title: "two operators that both act, 3 to 5 to 3 and a pod lost",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			s.second()
			s.withoutLease()
			s.freed()
			s.breaking()
			s.resize(5)
			must(s.t, s.Healthy(s.t.Context(), limit))
			s.resize(3)
			must(s.t, s.Healthy(s.t.Context(), limit))
			pod := s.follower()
			must(s.t, s.KillPod(s.t.Context(), pod.Name))
			s.replaced(pod.UID)
		},
	},
	{
		family: "operator", name: "beside", title: "a second installation for all namespaces, and the first one away in 3 to 5",
		spec: onVolumes(3), breaks: (*trial).besideAnother,
	},
}

// listed holds when etcd lists so many members, or more.
func (s *trial) listed(want int) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		members, err := s.Members(ctx)
		if err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("%d members", len(members.Members)), len(members.Members) >= want
	}
}

const operatorDeployment = "etcd-operator-controller-manager"

// standBy runs two operators, of which one may act.
func (s *trial) standBy() {
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
	must(s.t, scale(s.t.Context(), "2"))
	must(s.t, env.Run(s.t.Context(), "rollout", "status", "--timeout=2m", "-n", harness.OperatorNamespace,
		"deployment/"+operatorDeployment))
}

// holder is the operator's pod that holds the lease.
func (s *trial) holder() string {
	s.t.Helper()
	lease, err := env.Kube.CoordinationV1().Leases(harness.OperatorNamespace).
		Get(s.t.Context(), "etcd-operator.etcd.database.coreos.com", metav1.GetOptions{})
	must(s.t, err)
	pods, err := operators(s.t.Context())
	must(s.t, err)
	for _, p := range pods {
		if lease.Spec.HolderIdentity != nil && len(*lease.Spec.HolderIdentity) > len(p.Name) &&
			(*lease.Spec.HolderIdentity)[:len(p.Name)] == p.Name {
			return p.Name
		}
	}
	s.t.Fatalf("no operator holds the lease: %+v", lease.Spec)
	return ""
}

func (s *trial) killHolder() error {
	now := int64(0)
	return env.Kube.CoreV1().Pods(harness.OperatorNamespace).Delete(s.t.Context(), s.holder(),
		metav1.DeleteOptions{GracePeriodSeconds: &now})
}

// storm gives the operator hundreds of events at once, none of which means anything.
func (s *trial) storm() {
	const events = 200
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	s.breaking()
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for n := range events {
		all.Go(func() {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Namespace: s.Namespace, Name: fmt.Sprintf("noise-%d", n), Labels: map[string]string{"app": "etcd"},
			}}
			err := s.Create(s.t.Context(), secret)
			pod := pods[n%len(pods)].DeepCopy()
			if err == nil {
				before := pod.DeepCopy()
				pod.Annotations["noise"] = fmt.Sprint(n)
				err = s.Patch(s.t.Context(), pod, client.MergeFrom(before))
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
			}
		})
	}
	all.Wait()
	must(s.t, failed)
	s.t.Logf("%d events made in %.1f s", 2*events, time.Since(s.broken).Seconds())
	s.recover()
	for _, pod := range pods {
		if now := s.pod(pod.Name); now.UID != pod.UID {
			s.t.Errorf("pod %s was made again", pod.Name)
		}
	}
}
