package stories

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

var outageFaults = []fault{
	apiAway("6s", 6*time.Second, false),
	apiAway("20s", 20*time.Second, true), // longer than others wait for a Lease that is not renewed
	apiAway("2m", 2*time.Minute, false),
}

// apiAway has the API server gone for a while, right after a pod was deleted, and edits the cluster once it is back. The table
// says how soon members are as asked; the log, how soon the operator acted.
func apiAway(name string, away time.Duration, gate bool) fault {
	return fault{
		family: "operator", name: "api-away-" + name, gate: gate, spec: onVolumes(3),
		title: fmt.Sprintf("the API server gone for %s, right after a pod was deleted, and an edit once it is back", away),
		breaks: func(s *trial) {
			before, process, pod := s.identities(), s.operatorProcess(), s.follower()
			s.t.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.Background(), limit)
				defer cancel()
				if err := nodes.Faults().StartAPIServer(ctx); err != nil {
					s.t.Error(err)
				}
			})
			s.breaking()
			must(s.t, s.KillPod(s.t.Context(), pod.Name))
			must(s.t, nodes.Faults().StopAPIServer(s.t.Context()))
			s.hold(away)
			must(s.t, nodes.Faults().StartAPIServer(s.t.Context()))
			s.actsAgain(pod)
			s.replaced(pod.UID)
			s.same(before)
			s.unchanged("operator's process", process, s.operatorProcess())
		},
	}
}

// actsAgain edits the cluster, and logs how long after the API server was back the lost pod and the edit were acted on.
func (s *trial) actsAgain(lost corev1.Pod) {
	s.t.Helper()
	back := time.Now()
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Labels = map[string]string{"edited": "yes"} })
	for what, holds := range map[string]func(corev1.Pod) bool{
		"the lost pod": func(p corev1.Pod) bool { return p.Name == lost.Name && p.UID != lost.UID },
		"the edit":     func(p corev1.Pod) bool { return p.Name != lost.Name && p.Labels["edited"] == "yes" },
	} {
		must(s.t, harness.Await(s.t.Context(), what+" is acted on", limit, func(ctx context.Context) (string, bool) {
			pods, err := s.Pods(ctx)
			return fmt.Sprint(err), err == nil && slices.ContainsFunc(pods, holds)
		}))
		s.t.Logf("%s was acted on within %.1f s", what, time.Since(back).Seconds())
	}
}

// operatorProcess names the operator's pods, and counts how often their containers were started again.
func (s *trial) operatorProcess() string {
	s.t.Helper()
	pods, err := operators(s.t.Context())
	must(s.t, err)
	var names []string
	for _, p := range pods {
		for _, c := range p.Status.ContainerStatuses {
			names = append(names, fmt.Sprintf("%s restarted %d times", p.Name, c.RestartCount))
		}
	}
	slices.Sort(names)
	return fmt.Sprint(names)
}
