package stories

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestUpgrade goes up two minor versions and down one, in place: the pods stay, and so do the members.
func TestUpgrade(t *testing.T) {
	s := begin(t, "upgrade", v1beta2.EtcdClusterSpec{Size: 3, Version: "3.5.35"})
	s.settled()
	s.client()
	pods, ids := s.uids(), s.ids()
	for _, version := range []string{"3.6.16", "3.7.3", "3.6.16"} {
		s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = version })
		s.updated("all members run " + version)
		s.settled()
	}
	if got := s.uids(); got != pods {
		t.Errorf("the pods were %s and are %s: the image was not changed in place", pods, got)
	}
	if got := s.ids(); got != ids {
		t.Errorf("the members were %s and are %s", ids, got)
	}
}

// TestUpgradeTakenBack goes back to the old version as soon as one member runs the new one.
func TestUpgradeTakenBack(t *testing.T) {
	s := begin(t, "back", v1beta2.EtcdClusterSpec{Size: 3, Version: "3.6.16"})
	s.settled()
	s.client()
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.7.3" })
	must(t, harness.Await(t.Context(), "one member runs 3.7.3", limit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return harness.Words(object), object.Status.UpdatedMembers >= 1
	}))
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.6.16" })
	s.updated("back to 3.6.16")
}

// TestSingleMember upgrades a cluster of one and takes it down again: it is never without a member.
func TestSingleMember(t *testing.T) {
	s := begin(t, "single", v1beta2.EtcdClusterSpec{Size: 1, Version: "3.6.16"})
	s.settled()
	s.client()
	for _, version := range []string{"3.7.3", "3.6.16"} {
		s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = version })
		s.updated("the only member runs " + version)
		s.settled()
	}
}

// TestImageNotThere asks for a version that no registry has: no member is touched.
func TestImageNotThere(t *testing.T) {
	s := begin(t, "noimage", v1beta2.EtcdClusterSpec{Size: 3, Version: "3.6.16"})
	s.settled()
	s.client()
	pods := s.uids()
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.6.99" })
	s.says(v1beta2.ConditionDegraded, v1beta2.ReasonUpdateStopped)
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	if len(object.Status.Members.Ready) != 3 || !strings.Contains(harness.Words(object), "cannot be fetched") {
		t.Errorf("status %+v, %s", object.Status.Members, harness.Words(object))
	}
	s.report("an image that is not there")
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.6.16" })
	s.settled()
	s.report("back to the old version")
	if got := s.uids(); got != pods {
		t.Errorf("the pods were %s and are %s", pods, got)
	}
}

// TestRecreateOnVolumes changes an option: every pod is made again on its volume, and stays the same member.
func TestRecreateOnVolumes(t *testing.T) {
	s := begin(t, "recreate", onVolumes(3))
	s.settled()
	s.client()
	ids, volumes := s.ids(), s.claim("recreate-0").UID
	s.edit(func(spec *v1beta2.EtcdClusterSpec) {
		spec.Pod.EtcdEnv = []corev1.EnvVar{{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: "4294967296"}}
	})
	s.updated("another quota")
	if got := s.ids(); got != ids {
		t.Errorf("the members were %s and are %s", ids, got)
	}
	if got := s.claim("recreate-0").UID; got != volumes {
		t.Error("a volume was made again")
	}

	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.NodeSelector = map[string]string{"no": "such-node"} })
	s.says(v1beta2.ConditionDegraded, v1beta2.ReasonUpdateStopped)
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	if len(object.Status.Members.Ready) != 2 {
		t.Errorf("members %+v, want one that is down", object.Status.Members)
	}
	s.report("a placement that no node has: one member is down, and the update has stopped")
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.NodeSelector = nil })
	s.updated("back to the old placement")
}

// TestMoveToVolumes moves the data from emptyDir volumes onto claims and back.
func TestMoveToVolumes(t *testing.T) {
	s := begin(t, "move", v1beta2.EtcdClusterSpec{Size: 3})
	s.settled()
	s.client()
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod = onVolumes(3).Pod })
	s.updated("on volumes")
	s.settled()
	s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod = nil })
	s.updated("without volumes")
	s.settled()
	claims := &corev1.PersistentVolumeClaimList{}
	must(t, env.List(t.Context(), claims))
	for _, claim := range claims.Items {
		if claim.Namespace == s.Namespace && claim.DeletionTimestamp == nil {
			t.Errorf("claim %s is left over", claim.Name)
		}
	}
}

// TestInPlace changes labels and resources: no container is started again.
func TestInPlace(t *testing.T) {
	amount := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	s := begin(t, "inplace", v1beta2.EtcdClusterSpec{Size: 3, Pod: &v1beta2.PodPolicy{Resources: amount("20m")}})
	s.settled()
	s.client()
	pods := s.uids()
	s.edit(func(spec *v1beta2.EtcdClusterSpec) {
		spec.Pod.Resources, spec.Pod.Labels = amount("30m"), map[string]string{"team": "a"}
	})
	s.updated("labels and resources")
	s.settled()
	pod := s.pod("inplace-0")
	if got := s.uids(); got != pods || pod.Labels["team"] != "a" || pod.Status.ContainerStatuses[0].RestartCount != 0 ||
		pod.Spec.Containers[0].Resources.Requests.Cpu().String() != "30m" {
		t.Errorf("pods %s, want %s; labels %v, resources %v, restarts %d", got, pods, pod.Labels,
			pod.Spec.Containers[0].Resources, pod.Status.ContainerStatuses[0].RestartCount)
	}
}

// TestRefusedEdits asks a running cluster for what cannot be: it says why and goes on as before.
func TestRefusedEdits(t *testing.T) {
	spec := onVolumes(3)
	spec.Version = "3.5.35"
	s := begin(t, "refused", spec)
	s.settled()
	pods := s.uids()
	for reason, change := range map[string]func(*v1beta2.EtcdClusterSpec){
		v1beta2.ReasonVersionRefused:     func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.7.3" },
		v1beta2.ReasonUnsupportedVersion: func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.5.10" },
		v1beta2.ReasonInvalidOption: func(spec *v1beta2.EtcdClusterSpec) {
			spec.Pod.EtcdEnv = []corev1.EnvVar{{Name: "ETCD_DATA_DIR", Value: "/tmp"}}
		},
		v1beta2.ReasonVolumeShrinks: func(spec *v1beta2.EtcdClusterSpec) {
			spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("512Mi")
		},
	} {
		s.edit(change)
		s.says(v1beta2.ConditionDegraded, reason)
		s.edit(func(now *v1beta2.EtcdClusterSpec) { *now = *spec.DeepCopy() })
		s.settled()
	}
	if got := s.uids(); got != pods {
		t.Errorf("the pods were %s and are %s", pods, got)
	}
}

func (s *story) edit(change func(*v1beta2.EtcdClusterSpec)) {
	s.t.Helper()
	must(s.t, s.Edit(s.t.Context(), change))
}

// uids are the members' pods in one line.
func (s *story) uids() string {
	s.t.Helper()
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	var all []string
	for _, p := range pods {
		all = append(all, p.Name+"="+string(p.UID))
	}
	return strings.Join(all, " ")
}

// ids are the members in one line.
func (s *story) ids() string {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	var all []string
	for _, m := range object.Status.MemberStatuses {
		all = append(all, m.Name+"="+m.ID)
	}
	return strings.Join(all, " ")
}

// updated waits until every member is as the spec asks and says what the client saw.
func (s *story) updated(what string) {
	s.t.Helper()
	must(s.t, s.Updated(s.t.Context(), limit))
	s.report(what)
}
