package etcdcluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

const byDigest = "quay.io/coreos/etcd:v3.6.16@sha256:0123"

// TestImageChangedBack changes a member's image twice before its container has stopped, the second time to what the container was made
// from: the kubelet leaves it running, and so nobody waits for its end, whatever name of the image the runtime reports.
func TestImageChangedBack(t *testing.T) {
	for _, reported := range []string{"quay.io/coreos/etcd:v3.6.16", byDigest, "sha256:4567"} {
		r, p := onePass(t, nil, interceptor.Funcs{})
		p.observed.Cluster.Pinned = version.Pinned{byDigest}
		pod := p.pods["c-0"]
		pod.Spec.Containers[0].Image = byDigest
		must(t, r.Client.Update(t.Context(), pod))
		runs := func(id string) {
			t.Helper()
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: resources.EtcdContainer, ContainerID: id, Image: reported}}
			must(t, r.Client.Status().Update(t.Context(), pod))
		}
		change := func(to string, restarts bool) {
			t.Helper()
			must(t, r.changeImage(t.Context(), p, plan.ChangeImage{Name: "c-0", UID: "pod", Version: to}))
			must(t, r.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
			if seen := podOf(pod); seen.Restarting != restarts || seen.Version != to {
				t.Errorf("%s: it is to run %s, restarting: %t", reported, seen.Version, seen.Restarting)
			}
		}
		runs("a")
		change("3.7.3", true)
		change("3.6.15", true)
		change("3.6.16", false)
		change("3.7.3", true)
		if runs("b"); podOf(pod).Restarting {
			t.Errorf("%s: the next container is waited for, too", reported)
		}
		change("3.6.16", true)
		change("3.7.3", false)
	}
}

// TestReplacedObserved tells a container that an edit has ended from one that has ended by itself.
func TestReplacedObserved(t *testing.T) {
	const before, after = "quay.io/coreos/etcd:v3.6.15", "quay.io/coreos/etcd:v3.6.16"
	for title, c := range map[string]struct {
		ended, image string
		want         bool
	}{
		"none has ended":               {"", after, false},
		"the one of before the edit":   {"a", after, true},
		"the next one":                 {"b", after, false},
		"the edit was undone in time":  {"a", before, false},
		"it ends, and has no ID there": {"none", after, false},
	} {
		pod := &corev1.Pod{}
		pod.Annotations = map[string]string{resources.AnnotationReplaced: "a", resources.AnnotationReplacedImage: before}
		pod.Spec.Containers = []corev1.Container{{Name: resources.EtcdContainer, Image: c.image}}
		status := corev1.ContainerStatus{Name: resources.EtcdContainer, ContainerID: "c"}
		switch c.ended {
		case "":
		case "none":
			pod.Annotations[resources.AnnotationReplaced] = ""
			status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{}
		default:
			status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ContainerID: c.ended}
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
		if got := podOf(pod).Replaced; got != c.want {
			t.Errorf("%s: %t", title, got)
		}
	}
}

// TestDigestObserved wants another digest to be known of a pod, and to make a difference to one that runs only if the image is missing.
func TestDigestObserved(t *testing.T) {
	const fixed = "quay.io/coreos/etcd:v3.6.16@sha256:4567"
	waits := func(why string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: why}}
	}
	for title, c := range map[string]struct {
		pinned          string
		state           corev1.ContainerState
		other, restarts bool
	}{
		"the same":                         {byDigest, corev1.ContainerState{}, false, false},
		"the same, and it cannot be had":   {byDigest, waits("ImagePullBackOff"), false, false},
		"another, and it runs":             {fixed, corev1.ContainerState{}, true, false},
		"another, and etcd crashes":        {fixed, waits("CrashLoopBackOff"), true, false},
		"another, and it is not there yet": {fixed, waits("ContainerCreating"), true, false},
		"another, and it cannot be had":    {fixed, waits("ErrImagePull"), true, true},
	} {
		r, p := onePass(t, nil, interceptor.Funcs{})
		pod := p.pods["c-0"]
		pod.Spec.Containers[0].Image, pod.Annotations[resources.AnnotationImage] = byDigest, byDigest
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: resources.EtcdContainer, State: c.state}}
		p.observed.Pods = []plan.Pod{podOf(pod)}
		p.observed.Cluster.Pinned = version.Pinned{c.pinned}
		must(t, r.observePods(p))
		if seen := p.observed.Pods[0]; seen.OtherImage != c.other || seen.Drift != (plan.Drift{Image: c.restarts}) {
			t.Errorf("%s: another image: %t, drift: %+v", title, seen.OtherImage, seen.Drift)
		}
	}
}
