package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// rollFaults are no faults of anyone: they are the changes of a running cluster that a client should not notice.
var rollFaults = []fault{
	{
		family: "roll", name: "up", title: "3.5 to 3.6 to 3.7, and down to 3.6", gate: true,
		apart: true, spec: v1beta2.EtcdClusterSpec{Size: 3, Version: "3.5.35"},
		breaks: func(s *trial) {
			pods, ids := s.uids(), s.ids()
			s.breaking()
			for _, version := range []string{"3.6.16", "3.7.3", "3.6.16"} {
				s.apply(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = version })
				s.t.Logf("all members run %s after %.1f s", version, time.Since(s.broken).Seconds())
			}
			s.recover()
			s.unchanged("pods", pods, s.uids())
			s.unchanged("members", ids, s.ids())
		},
	},
	{
		family: "roll", name: "taken-back", title: "3.6 to 3.7, taken back once one member runs 3.7",
		spec: v1beta2.EtcdClusterSpec{Size: 3, Version: "3.6.16"},
		breaks: func(s *trial) {
			s.breaking()
			s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.7.3" })
			s.until("one member runs 3.7.3", func(status v1beta2.EtcdClusterStatus) bool { return status.UpdatedMembers >= 1 })
			s.apply(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.6.16" })
			s.recover()
		},
	},
	{
		family: "roll", name: "grown", title: "3 to 5 in the middle of 3.6 to 3.7", spec: onVolumes(3),
		breaks: func(s *trial) {
			s.breaking()
			s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.7.3" })
			s.until("one member runs 3.7.3", func(status v1beta2.EtcdClusterStatus) bool { return status.UpdatedMembers >= 1 })
			s.apply(func(spec *v1beta2.EtcdClusterSpec) { spec.Size = 5 })
			s.recover()
		},
	},
	{
		family: "roll", name: "single", title: "a cluster of one from 3.6 to 3.7 and back",
		spec: v1beta2.EtcdClusterSpec{Size: 1, Version: "3.6.16"},
		breaks: func(s *trial) {
			s.breaking()
			for _, version := range []string{"3.7.3", "3.6.16"} {
				s.apply(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = version })
			}
			s.recover()
		},
	},
	{
		family: "roll", name: "no-image", title: "a version that no registry has, and back", gate: true,
		apart: true, spec: v1beta2.EtcdClusterSpec{Size: 3, Version: "3.6.16"},
		breaks: func(s *trial) {
			pods := s.uids()
			s.breaking()
			s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.6.99" })
			s.stopped("cannot be pulled", 3)
			s.apply(func(spec *v1beta2.EtcdClusterSpec) { spec.Version = "3.6.16" })
			s.recover()
			s.unchanged("pods", pods, s.uids())
		},
	},
	{
		family: "roll", name: "option", title: "another quota, members on volumes", gate: true, apart: true, spec: onVolumes(3),
		breaks: func(s *trial) {
			ids, volume := s.ids(), s.claim(s.name+"-0").UID
			s.breaking()
			s.apply(func(spec *v1beta2.EtcdClusterSpec) {
				spec.Pod.EtcdEnv = []corev1.EnvVar{{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: "4294967296"}}
			})
			s.recover()
			s.unchanged("members", ids, s.ids())
			s.unchanged("volume", string(volume), string(s.claim(s.name+"-0").UID))
		},
	},
	{
		family: "roll", name: "replaced", title: "another quota, members on emptyDirs", spec: v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) {
			s.breaking()
			s.apply(func(spec *v1beta2.EtcdClusterSpec) {
				spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: "4294967296"}}}
			})
			s.recover()
		},
	},
	{
		family: "roll", name: "no-node", title: "a placement that no node has, the leader's pod deleted meanwhile, and back",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			s.breaking()
			s.edit(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.NodeSelector = map[string]string{"no": "such-node"} })
			s.stopped("cannot be scheduled", 2)
			// It comes back as it was: the update has not reached it.
			leader := s.leader()
			must(s.t, s.KillPod(s.t.Context(), leader.Name))
			must(s.t, harness.Await(s.t.Context(), "its pod is ended", limit, s.ended(leader.UID)))
			s.until("a quorum again", func(status v1beta2.EtcdClusterStatus) bool { return len(status.Members.Ready) == 2 })
			s.apply(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.NodeSelector = nil })
			s.recover()
		},
	},
	{
		family: "roll", name: "beside-no-image", title: "another container beside etcd whose image no registry has, for longer than a pod may take, and back",
		spec: onVolumes(3),
		breaks: func(s *trial) {
			ids := s.ids()
			s.breaking()
			s.edit(func(spec *v1beta2.EtcdClusterSpec) {
				spec.Pod.Template = &runtime.RawExtension{Raw: []byte(`{"spec": {"containers": [{"name": "beside", "image": "registry.invalid/beside:1",
					"securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]}}`)}
			})
			s.says(v1beta2.ConditionDegraded, v1beta2.ReasonUpdateStopped)
			s.never("a member is given up that serves in a pending pod", givesUpAfter, func(context.Context) (bool, error) { return s.ids() != ids, nil })
			s.apply(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Template = nil })
			s.recover()
			s.unchanged("members", ids, s.ids())
		},
	},
	{
		family: "roll", name: "to-volumes", title: "from emptyDirs to volumes and back", spec: v1beta2.EtcdClusterSpec{Size: 3},
		breaks: func(s *trial) {
			s.breaking()
			s.apply(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod = onVolumes(3).Pod })
			s.apply(func(spec *v1beta2.EtcdClusterSpec) { spec.Pod = nil })
			s.recover()
			s.settled()
			must(s.t, harness.Await(s.t.Context(), "no volume is left", limit, func(ctx context.Context) (string, bool) {
				claims := &corev1.PersistentVolumeClaimList{}
				err := env.List(ctx, claims, ctrlclient.InNamespace(s.Namespace))
				return fmt.Sprintf("%d volumes, %v", len(claims.Items), err), err == nil && len(claims.Items) == 0
			}))
		},
	},
	{
		family: "roll", name: "in-place", title: "other labels and resources", gate: true,
		apart: true, spec: v1beta2.EtcdClusterSpec{Size: 3, Pod: &v1beta2.PodPolicy{Resources: amount("20m")}},
		breaks: func(s *trial) {
			pods := s.uids()
			s.breaking()
			s.apply(func(spec *v1beta2.EtcdClusterSpec) {
				spec.Pod.Resources, spec.Pod.Labels = amount("30m"), map[string]string{"team": "a"}
			})
			s.recover()
			s.unchanged("pods", pods, s.uids())
			pod := s.pod(s.name + "-0")
			if pod.Labels["team"] != "a" || pod.Status.ContainerStatuses[0].RestartCount != 0 ||
				pod.Spec.Containers[0].Resources.Requests.Cpu().String() != "30m" {
				s.t.Errorf("labels %v, resources %v, %d restarts", pod.Labels, pod.Spec.Containers[0].Resources,
					pod.Status.ContainerStatuses[0].RestartCount)
			}
		},
	},
}

// givesUpAfter is longer than a member may take whose pod cannot start on any node, which is five minutes.
const givesUpAfter = 6 * time.Minute

func amount(cpu string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
}

// apply edits the spec and waits until every member is as it asks.
func (s *trial) apply(edit func(*v1beta2.EtcdClusterSpec)) {
	s.t.Helper()
	s.edit(edit)
	must(s.t, s.Updated(s.t.Context(), limit))
}

// until waits for something in the status.
func (s *trial) until(what string, holds func(v1beta2.EtcdClusterStatus) bool) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), what, limit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return harness.Words(object), object.Status.ObservedGeneration == object.Generation && holds(object.Status)
	}))
}

// stopped waits until the update has stopped for that reason, and checks how many members it has left alone.
func (s *trial) stopped(why string, ready int) {
	s.t.Helper()
	s.says(v1beta2.ConditionDegraded, v1beta2.ReasonUpdateStopped)
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	if !strings.Contains(harness.Words(object), why) || len(object.Status.Members.Ready) != ready {
		s.t.Errorf("members %+v, %s; want %d ready and %q", object.Status.Members, harness.Words(object), ready, why)
	}
}

func (s *trial) unchanged(what, before, after string) {
	s.t.Helper()
	if before != after {
		s.t.Errorf("the %s were %s and are %s", what, before, after)
	}
}

// TestRefusedEdits asks a running cluster for what cannot be: it says why and goes on as before.
func TestRefusedEdits(t *testing.T) {
	t.Parallel()
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
