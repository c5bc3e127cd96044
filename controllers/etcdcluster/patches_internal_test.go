package etcdcluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// TestRefusedElsewhere has a release be held in a cluster for a day after another one of the operator has taken it back, whichever process that was
// seen by: the statuses say so. What runs another image says nothing of this one.
func TestRefusedElsewhere(t *testing.T) {
	const other = "mirror.example/etcd:v3.6.16"
	refused := func(release, image string, ago time.Duration) v1beta2.RefusedVersion {
		return v1beta2.RefusedVersion{Version: release, Image: image, Since: metav1.NewTime(noon.Add(-ago))}
	}
	same := version.Image("", "3.6.16")
	for title, c := range map[string]struct {
		refused []v1beta2.RefusedVersion
		off     bool
		want    time.Duration // ago, 0 for never
	}{
		"none was":                 {},
		"one was":                  {refused: []v1beta2.RefusedVersion{refused("3.6.16", same, time.Hour)}, want: time.Hour},
		"one was two days ago":     {refused: []v1beta2.RefusedVersion{refused("3.6.16", same, 48*time.Hour)}},
		"one was in a moment":      {refused: []v1beta2.RefusedVersion{refused("3.6.16", same, -time.Second)}, want: -time.Second},
		"one was in the future":    {refused: []v1beta2.RefusedVersion{refused("3.6.16", same, -876000*time.Hour)}},
		"one was, and in future":   {refused: []v1beta2.RefusedVersion{refused("3.6.16", same, -time.Hour), refused("3.6.16", same, time.Hour)}, want: time.Hour},
		"an earlier one was":       {refused: []v1beta2.RefusedVersion{refused("3.6.14", same, time.Hour)}},
		"that of a mirror was":     {refused: []v1beta2.RefusedVersion{refused("3.6.16", other, time.Hour)}},
		"the feature is off":       {refused: []v1beta2.RefusedVersion{refused("3.6.16", same, time.Hour)}, off: true},
		"an earlier one was, also": {refused: []v1beta2.RefusedVersion{refused("3.6.14", same, time.Hour), refused("3.6.16", same, 2*time.Hour)}, want: 2 * time.Hour},
	} {
		r, p := onePass(t, nil, interceptor.Funcs{})
		for i, namespace := range []string{"a", "b"} {
			cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c", UID: "other"}}
			if i == 1 {
				cluster.Status.Autopilot = &v1beta2.AutopilotStatus{RefusedVersions: c.refused}
			}
			must(t, r.Client.Create(t.Context(), cluster))
		}
		p.observed.Cluster.Version, p.observed.Cluster.NewestPatch, p.observed.Etcd.Contact = "3.6.15", "3.6.16", plan.ContactQuorum
		if !c.off {
			p.observed.Cluster.Autopilot.Patches = plan.ModeOn
		}
		must(t, r.observeRefused(t.Context(), p))
		want := time.Time{}
		if c.want != 0 {
			want = noon.Add(-c.want)
		}
		if got := p.observed.Cluster.RefusedElsewhere; !got.Equal(want) {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
	}
}

// TestOwnRefusal counts for its own cluster by itself.
func TestOwnRefusal(t *testing.T) {
	r, p := onePass(t, nil, interceptor.Funcs{})
	p.cluster.Status.Autopilot = &v1beta2.AutopilotStatus{RefusedVersions: []v1beta2.RefusedVersion{
		{Version: "3.6.16", Image: version.Image("", "3.6.16"), Since: metav1.NewTime(noon)},
	}}
	must(t, r.Client.Update(t.Context(), p.cluster))
	p.observed.Cluster.Version, p.observed.Cluster.NewestPatch, p.observed.Etcd.Contact = "3.6.15", "3.6.16", plan.ContactQuorum
	p.observed.Cluster.Autopilot.Patches = plan.ModeOn
	must(t, r.observeRefused(t.Context(), p))
	if got := p.observed.Cluster.RefusedElsewhere; !got.IsZero() {
		t.Errorf("it was rolled back elsewhere at %s", got)
	}
}

// TestImageByDigest finds the digest of a pod's image, where it is certain that the image can be had by it.
func TestImageByDigest(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	const tagged = "quay.io/coreos/etcd:v3.6.15"
	for title, c := range map[string]struct{ asked, runs, want string }{
		"it is asked for":        {tagged + "@" + digest, "", tagged + "@" + digest},
		"the runtime says so":    {tagged, "quay.io/coreos/etcd@" + digest, tagged + "@" + digest},
		"another repository":     {tagged, "mirror.example/coreos/etcd@" + digest, ""},
		"the image's own digest": {tagged, digest, ""},
		"no digest":              {tagged, "quay.io/coreos/etcd@0123", ""},
		"nothing runs":           {tagged, "", ""},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: resources.EtcdContainer, Image: c.asked}}}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: resources.EtcdContainer, ContainerID: "1", ImageID: c.runs, RestartCount: 2}}
		if seen := podOf(pod); seen.Image != c.want || seen.Restarts != 2 {
			t.Errorf("%s: %q, %d restarts", title, seen.Image, seen.Restarts)
		}
	}
}

// TestWayBackByDigest has an operator that knows the newest release alone by its digest make pods of the former one with the image that members
// had.
func TestWayBackByDigest(t *testing.T) {
	const before = "quay.io/coreos/etcd:v3.6.15@sha256:0123"
	r, p := onePass(t, nil, interceptor.Funcs{})
	r.Pinned = version.Pinned{byDigest, "quay.io/coreos/etcd:v3.6.15@sha256:4567"}
	p.cluster.Status.Autopilot = &v1beta2.AutopilotStatus{Version: &v1beta2.ChosenVersion{Version: "3.6.16", InsteadOf: "3.6.15", Image: before}}
	p.observed.Cluster = r.observedCluster(p.cluster, nil)
	for release, want := range map[string]string{"3.6.15": before, "3.6.16": byDigest} {
		pod, err := resources.Pod(p.cluster, "c-0", 1, nil, r.optionsFor(p, plan.NewPod{Name: "c-0", Version: release}))
		must(t, err)
		if got := resources.EtcdOf(pod).Image; got != want || p.observed.Cluster.Image(release) != want {
			t.Errorf("that of %s is %s, and %s for a pod that runs; want %s", release, got, p.observed.Cluster.Image(release), want)
		}
	}
}

// TestTrialEnds has a cluster be looked at as soon as the trial of a release ends.
func TestTrialEnds(t *testing.T) {
	r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(begun)}
	p := &pass{cluster: &v1beta2.EtcdCluster{}, action: plan.Idle{}}
	p.observed.Etcd.Contact = plan.ContactQuorum
	p.assessment.OnTrial = plan.Patch{Version: "3.6.16", InsteadOf: "3.6.15", Trial: plan.PatchTrial{Member: "c-1", Healthy: begun.Add(-4 * time.Minute)}}
	if got, matters := r.autopilotAgain(p); got != 6*time.Minute || !matters {
		t.Errorf("in %s (%v)", got, matters)
	}
	p.observed.Cluster.Autopilot.Pace = 2
	if got, matters := r.autopilotAgain(p); got != time.Minute || !matters {
		t.Errorf("in %s (%v) in a test", got, matters)
	}
}
