package stories

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	// toldWithin is how long it may take until status names a write that is refused.
	toldWithin = time.Minute
	// askedWithin is how long the operator may take to ask again for what is allowed by now: its longest pause, and a pass.
	askedWithin = 35 * time.Second
	// readyWithin is how long the cluster may take after that to be Ready.
	readyWithin = time.Minute
	// awhile is how long a refusal is watched that must change nothing.
	awhile = 10 * time.Second
	// servingLabel is on the pods that the client Service leads to.
	servingLabel = "etcd.database.coreos.com/serving"
)

// refusalFaults are about writes of the operator that the API server refuses: the rest goes on, status says who refuses what,
// and what is allowed at last, or no longer asked for, heals. In each of them something else breaks meanwhile.
var refusalFaults = slices.Concat(quotaFaults, policyFaults, webhookFaults)

// refused waits until the cluster is not Ready because of a write that the API server refuses, and some words are told of it.
func (s *trial) refused(words ...string) {
	s.t.Helper()
	words = append(words, "the API server refuses to ")
	must(s.t, harness.Await(s.t.Context(), fmt.Sprintf("status says %q", words), toldWithin,
		func(ctx context.Context) (string, bool) {
			object, err := s.Cluster.Get(ctx)
			if err != nil {
				return err.Error(), false
			}
			c := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionDegraded)
			told := c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == object.Generation &&
				meta.IsStatusConditionFalse(object.Status.Conditions, v1beta2.ConditionReady)
			for _, w := range words {
				told = told && strings.Contains(c.Message, w)
			}
			return harness.Words(object), told
		}))
	if s.noticed.IsZero() {
		s.noticing()
	}
}

// onlyRefused is refused where nothing else is wrong with the cluster.
func (s *trial) onlyRefused(words ...string) {
	s.t.Helper()
	s.says(v1beta2.ConditionDegraded, v1beta2.ReasonWriteRefused)
	s.refused(words...)
}

// accepted waits until the cluster is Ready, once what was refused is allowed or no longer asked for.
func (s *trial) accepted() {
	s.t.Helper()
	start := time.Now()
	must(s.t, harness.Await(s.t.Context(), s.Name+" is Ready", askedWithin+readyWithin, s.isReady))
	s.mended = time.Now()
	s.t.Logf("Ready %.1f s after it was possible", time.Since(start).Seconds())
}

func (s *trial) isReady(ctx context.Context) (string, bool) {
	object, err := s.Cluster.Get(ctx)
	if err != nil {
		return err.Error(), false
	}
	c := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionReady)
	return harness.Words(object), c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == object.Generation &&
		meta.IsStatusConditionFalse(object.Status.Conditions, v1beta2.ConditionDegraded)
}

// askedAgain waits until there is another pod in the place of the one that was lost, in the time in which the operator has to ask
// again for one that was refused.
func (s *trial) askedAgain(lost corev1.Pod, from time.Time) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "another pod "+lost.Name, time.Until(from.Add(askedWithin)),
		func(ctx context.Context) (string, bool) {
			pods, err := s.Pods(ctx)
			return fmt.Sprintf("%d pods, %v", len(pods), err), err == nil && slices.ContainsFunc(pods, func(p corev1.Pod) bool {
				return p.Name == lost.Name && p.UID != lost.UID
			})
		}))
	s.t.Logf("pod %s was made %.1f s after it was allowed", lost.Name, time.Since(from).Seconds())
}

// comesBack deletes a pod without grace, and waits until its member has another one, and all members are healthy.
func (s *trial) comesBack(lost corev1.Pod) corev1.Pod {
	s.t.Helper()
	start := time.Now()
	must(s.t, s.KillPod(s.t.Context(), lost.Name))
	must(s.t, s.Recovered(s.t.Context(), lost.UID, limit))
	s.t.Logf("pod %s came back within %.1f s", lost.Name, time.Since(start).Seconds())
	return *s.pod(lost.Name)
}

// diesInPlace ends a member's process, and waits until the kubelet has started it again.
func (s *trial) diesInPlace(pod corev1.Pod) {
	s.t.Helper()
	before := *s.pod(pod.Name)
	must(s.t, nodes.Faults().KillContainer(s.t.Context(), s.container(pod.Name)))
	s.restarted(before)
}

// serves waits until clients find these members, and no others, and are served.
func (s *trial) serves(want ...string) {
	s.t.Helper()
	slices.Sort(want)
	must(s.t, harness.Await(s.t.Context(), fmt.Sprintf("clients find %v", want), limit, func(ctx context.Context) (string, bool) {
		slicesOf, err := env.Kube.DiscoveryV1().EndpointSlices(s.Namespace).List(ctx, metav1.ListOptions{
			LabelSelector: discoveryv1.LabelServiceName + "=" + s.Name + "-client",
		})
		if err != nil {
			return err.Error(), false
		}
		var found []string
		for _, slice := range slicesOf.Items {
			for _, e := range slice.Endpoints {
				if e.Conditions.Ready != nil && *e.Conditions.Ready && e.TargetRef != nil {
					found = append(found, e.TargetRef.Name)
				}
			}
		}
		slices.Sort(found)
		return fmt.Sprintf("they find %v", found), slices.Equal(slices.Compact(found), want)
	}))
	s.moreReads()
}

// names are those of the members' pods, except for one that is lost.
func (s *trial) names(except string) []string {
	var all []string
	for n := range s.spec.Size {
		if name := fmt.Sprintf("%s-%d", s.Name, n); name != except {
			all = append(all, name)
		}
	}
	return all
}

// servedAgain takes a member out of the client Service by hand, and waits until the operator has put it back: what is refused
// elsewhere holds that up for no longer than a pause.
func (s *trial) servedAgain(pod corev1.Pod) {
	s.t.Helper()
	pod = *s.pod(pod.Name)
	s.change(&pod, func() { delete(pod.Labels, servingLabel) })
	must(s.t, harness.Await(s.t.Context(), pod.Name+" is in the client Service again", askedWithin,
		func(context.Context) (string, bool) {
			labels := s.pod(pod.Name).Labels
			return fmt.Sprint(labels), labels[servingLabel] == "true"
		}))
}

// memberPods and pullPods are what follows the cluster's name in those of pods.
const (
	memberPods = "[0-9]+"
	pullPods   = "pull-.+"
)

// madeAtMost checks how many pods of such names there ever were, by the events about them: none is made and deleted in a loop.
func (s *trial) madeAtMost(most int, names string) {
	s.t.Helper()
	events, err := env.Kube.EventsV1().Events(s.Namespace).List(s.t.Context(), metav1.ListOptions{})
	must(s.t, err)
	pattern := regexp.MustCompile("^" + s.Name + "-" + names + "$")
	made := map[types.UID]string{}
	for _, e := range events.Items {
		if e.Regarding.Kind == "Pod" && pattern.MatchString(e.Regarding.Name) {
			made[e.Regarding.UID] = e.Regarding.Name
		}
	}
	if len(made) > most {
		s.t.Errorf("%d pods were made, want no more than %d: %v", len(made), most, made)
	}
}

// told checks how often events tell of refusals with some words: not at each attempt.
func (s *trial) told(words string, most int32) {
	s.t.Helper()
	events, err := env.Kube.EventsV1().Events(s.Namespace).List(s.t.Context(), metav1.ListOptions{})
	must(s.t, err)
	times := int32(0)
	for _, e := range events.Items {
		if e.Reason != v1beta2.ReasonWriteRefused || e.Type != corev1.EventTypeWarning || !strings.Contains(e.Note, words) {
			continue
		}
		times++
		if e.Series != nil {
			times += e.Series.Count - 1
		}
	}
	if times < 1 || times > most {
		s.t.Errorf("%d events %s say %q, want 1 to %d", times, v1beta2.ReasonWriteRefused, words, most)
	}
}

// refuses waits until the API server refuses a request in those words.
func (s *trial) refuses(words string, request func(context.Context) error) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), fmt.Sprintf("a request is refused: %q", words), limit,
		func(ctx context.Context) (string, bool) {
			err := request(ctx)
			return fmt.Sprint(err), err != nil && strings.Contains(err.Error(), words)
		}))
}

// allows waits until the API server accepts a request, and returns since when.
func (s *trial) allows(request func(context.Context) error) time.Time {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "a request is allowed", limit, func(ctx context.Context) (string, bool) {
		err := request(ctx)
		return fmt.Sprint(err), err == nil
	}))
	return time.Now()
}

// tries is a request for a pod that is never made.
func (s *trial) tries(change func(*corev1.Pod)) func(context.Context) error {
	return func(ctx context.Context) error { return env.Client.Create(ctx, s.neverMade(change), client.DryRunAll) }
}

// neverMade is a pod to ask the API server for in a dry run.
func (s *trial) neverMade(change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "never-made"},
		Spec:       harness.Restricted(corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Image: "busybox"}}}),
	}
	change(pod)
	return pod
}

// anything changes nothing of a pod that is tried.
func anything(*corev1.Pod) {}
