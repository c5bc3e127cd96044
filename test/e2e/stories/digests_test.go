package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const etcdRepository = "quay.io/coreos/etcd"

// TestImagesByDigest names etcd's images by digest to the operator while a cluster runs: no member restarts, a pod made anew has the digest,
// and another version comes by its digest. A digest that no registry has costs no member that runs, and can be corrected. No other story
// runs meanwhile.
func TestImagesByDigest(t *testing.T) {
	const before, after = "3.6.15", "3.6.16"
	spec := onVolumes(3)
	spec.Version = before
	s := begin(t, "digests", spec)
	s.settled()
	s.client()
	first, second, plain := s.digest(before), s.digest(after), etcdRepository+":v"+before
	s.ask(plain, plain, plain)

	t.Cleanup(func() { unpin(t, before, after) })
	running := s.containers()
	s.pins(before, etcdRepository+"@"+first)
	s.pins(after, etcdRepository+":v"+after+"@"+second)
	lost := s.pod("digests-1").UID
	must(t, s.KillPod(t.Context(), "digests-1"))
	must(t, s.Recovered(t.Context(), lost, limit))
	s.ask(plain, plain+"@"+first, plain)
	s.run(running, 0, 2)
	s.report("one of three pods made anew, by digest")

	must(t, s.Upgrade(t.Context(), after, limit))
	s.settled()
	updated := etcdRepository + ":v" + after + "@" + second
	s.ask(updated, updated, updated)
	s.report("another version, by digest")

	running = s.containers()
	nowhere := etcdRepository + ":v" + after + "@sha256:" + strings.Repeat("0", 64)
	s.pins(after, nowhere)
	must(t, s.KillPod(t.Context(), "digests-2"))
	must(t, harness.Await(t.Context(), "an image that is nowhere is asked for", limit, func(ctx context.Context) (string, bool) {
		pod := &corev1.Pod{}
		err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: "digests-2"}, pod)
		waits := fmt.Sprintf("%+v", pod.Status.ContainerStatuses)
		return fmt.Sprint(err, waits), err == nil && pod.Spec.Containers[0].Image == nowhere && strings.Contains(waits, "ImagePull")
	}))
	s.pins(after, updated)
	s.healthy("the digest corrected")
	s.settled()
	s.ask(updated, updated, updated)
	s.run(running, 0, 1)
	s.report("a digest that is nowhere, and corrected")
}

// digest is that of etcd's image of a version, as a node reports it that has pulled it by its tag.
func (s *story) digest(version string) (digest string) {
	s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "digest-" + strings.ReplaceAll(version, ".", "-")},
		Spec: harness.Restricted(corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{
			Name: "etcd", Image: etcdRepository + ":v" + version, Command: []string{"etcd", "--version"},
		}}}),
	}
	must(s.t, env.Create(s.t.Context(), pod))
	must(s.t, harness.Await(s.t.Context(), "the digest of etcd "+version, limit, func(ctx context.Context) (string, bool) {
		if err := env.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err.Error(), false
		}
		for _, c := range pod.Status.ContainerStatuses {
			_, digest, _ = strings.Cut(c.ImageID, "@")
		}
		return fmt.Sprintf("%+v", pod.Status.ContainerStatuses), digest != ""
	}))
	return digest
}

// pins tells the operator the image of a version, and waits for the process that was told.
func (s *story) pins(version, image string) {
	s.t.Helper()
	tellOperator(s.t, relatedImage(version)+"="+image)
}

// unpin has the operator run as it was deployed.
func unpin(t *testing.T, versions ...string) {
	t.Helper()
	var variables []string
	for _, version := range versions {
		variables = append(variables, relatedImage(version))
	}
	untellOperator(t, variables...)
}

func relatedImage(version string) string {
	return "RELATED_IMAGE_ETCD_" + strings.ReplaceAll(version, ".", "_")
}

// ask wants the members' pods, in the order of their names, to ask for these images, and to run those that have a digest by it.
func (s *story) ask(images ...string) {
	s.t.Helper()
	for i, want := range images {
		pod := s.pod(fmt.Sprintf("%s-%d", s.Name, i))
		if got := pod.Spec.Containers[0].Image; got != want {
			s.t.Errorf("%s asks for %s, want %s", pod.Name, got, want)
		}
		if _, digest, pinned := strings.Cut(want, "@"); pinned && !strings.HasSuffix(pod.Status.ContainerStatuses[0].ImageID, "@"+digest) {
			s.t.Errorf("%s runs %s, want %s", pod.Name, pod.Status.ContainerStatuses[0].ImageID, digest)
		}
	}
}

// containers are those that run etcd, of all members, in the order of their names.
func (s *story) containers() (all []string) {
	s.t.Helper()
	for i := range 3 {
		all = append(all, s.pod(fmt.Sprintf("%s-%d", s.Name, i)).Status.ContainerStatuses[0].ContainerID)
	}
	return all
}

// run wants some members to run in the same containers still.
func (s *story) run(before []string, members ...int) {
	s.t.Helper()
	now := s.containers()
	for _, i := range members {
		if now[i] != before[i] {
			s.t.Errorf("%s-%d has restarted: %s, before %s", s.Name, i, now[i], before[i])
		}
	}
}
