package etcdrestore_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

const gibi = 1 << 30

// onVolumes is a pod with a volume of that size.
func onVolumes(size string) *v1beta2.PodPolicy {
	return &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)},
		},
	}}
}

// misfits wants snapshots refused that the cluster has no room for or cannot run, and nothing done to it.
func (s *stage) misfits(t *testing.T) {
	capped := &v1beta2.PodPolicy{}
	capped.Resources.Limits = corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse("1Gi")}
	quota := func(size string) *v1beta2.EtcdOptions {
		bytes := resource.MustParse(size)
		return &v1beta2.EtcdOptions{QuotaBackendBytes: &bytes}
	}
	for name, c := range map[string]struct {
		pod          *v1beta2.PodPolicy
		etcd         *v1beta2.EtcdOptions
		database     v1beta2.SnapshotDatabase
		reason, says string
		tuned        *v1beta2.AutopilotStatus // what Auto Pilot has made of the spec
	}{
		"small": {
			pod: onVolumes("1Gi"), database: v1beta2.SnapshotDatabase{SizeBytes: gibi}, reason: v1beta2.ReasonVolumeTooSmall,
			says: "spec.pod.persistentVolumeClaimSpec.resources.requests.storage of EtcdCluster fit-small is 1024Mi",
		},
		"capped": {
			pod: capped, database: v1beta2.SnapshotDatabase{SizeBytes: gibi}, reason: v1beta2.ReasonVolumeTooSmall,
			says: "spec.pod.resources.limits.ephemeral-storage of EtcdCluster fit-capped is 1024Mi",
		},
		"default-quota": {
			database: v1beta2.SnapshotDatabase{SizeBytes: 2 * gibi, InUseBytes: gibi}, reason: v1beta2.ReasonQuotaTooSmall,
			says: "is 2048Mi, and the database of the snapshot has 2048Mi, of which 1024Mi are in use",
		},
		"quota": {
			etcd: quota("4Gi"), database: v1beta2.SnapshotDatabase{SizeBytes: 5 * gibi}, reason: v1beta2.ReasonQuotaTooSmall,
			says: "spec.etcd.quotaBackendBytes",
		},
		"auth": {
			database: v1beta2.SnapshotDatabase{SizeBytes: gibi, AuthEnabled: true}, reason: v1beta2.ReasonSnapshotNeedsAuth,
			says: "etcdctl auth disable",
		},
		"large": {pod: onVolumes("16Gi"), etcd: quota("8Gi"), database: v1beta2.SnapshotDatabase{SizeBytes: 5 * gibi}},
		"tuned": {
			pod: onVolumes("4Gi"), etcd: quota("2Gi"), database: v1beta2.SnapshotDatabase{SizeBytes: 5 * gibi}, tuned: &v1beta2.AutopilotStatus{
				Tuned:  &v1beta2.TunedOptions{QuotaBackendBytes: resource.MustParse("8Gi"), InsteadOf: resource.MustParse("2Gi")},
				Volume: &v1beta2.TunedVolume{Size: resource.MustParse("17Gi"), InsteadOf: resource.MustParse("4Gi")},
			},
		},
		"no-quota": {etcd: quota("-1"), database: v1beta2.SnapshotDatabase{SizeBytes: 5 * gibi}},
	} {
		name = "fit-" + name
		before := s.runningWith(t, name, v1beta2.EtcdClusterSpec{Size: 3, Version: "3.6.4", Pod: c.pod, Etcd: c.etcd})
		before.Status.Autopilot = c.tuned
		must(t, s.Status().Update(t.Context(), before))
		s.from(t, name, name, nil)
		pod, _ := s.untilPod(t, name)
		s.Ends(t, pod, task.Result{Snapshot: controllertest.SnapshotOf("snap.db"), DataVersion: "3.6", Database: &c.database})
		if c.reason == "" {
			s.untilPhase(t, name, v1beta2.RestoreSaving)
			continue
		}
		o := s.untilPhase(t, name, v1beta2.RestoreFailed)
		s.says(t, o, c.reason, c.says)
		s.says(t, o, c.reason, "nothing was done to the cluster")
		if now := s.cluster(t, name); now.ResourceVersion != before.ResourceVersion || len(o.Finalizers) > 0 {
			t.Errorf("%s: the cluster was touched: %+v", name, now)
		}
	}
}

// lessRoom has the quota lowered after the snapshot was verified and the data saved, and reports the alarms in it.
func (s *stage) lessRoom(t *testing.T) {
	s.running(t, "lowered", true)
	s.from(t, "late", "lowered", nil)
	alarms := []v1beta2.SnapshotAlarm{{Name: "NOSPACE", MemberID: "beef"}}
	pod, _ := s.untilPod(t, "late")
	s.Ends(t, pod, task.Result{
		Snapshot: controllertest.SnapshotOf("snap.db"), Database: &v1beta2.SnapshotDatabase{SizeBytes: gibi, Alarms: alarms},
		Warnings: []string{"the snapshot was taken while etcd had the alarm NOSPACE"},
	})
	o := s.untilPhase(t, "late", v1beta2.RestoreSaving)
	if d := o.Status.Source.Database; d == nil || len(d.Alarms) != 1 || d.Alarms[0] != alarms[0] || !s.warned("the alarm NOSPACE") {
		t.Errorf("it says %s; the events are %q", pretty(o), s.events)
	}
	pod, _ = s.untilPod(t, "late")
	s.Ends(t, pod, task.Result{Snapshot: controllertest.SnapshotOf("safe.db")})
	s.until(t, "late", "the guard", func(o *v1beta2.EtcdRestore) bool { return len(o.Finalizers) > 0 })
	c := s.cluster(t, "lowered")
	c.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: "1073741824"}}}
	must(t, s.Update(t.Context(), c))
	s.says(t, s.untilPhase(t, "late", v1beta2.RestoreFailed), v1beta2.ReasonQuotaTooSmall, "nothing was done to the cluster")

	s.from(t, "doubtful", "lowered", func(spec *v1beta2.EtcdRestoreSpec) { spec.SafetySnapshot = v1beta2.SafetySnapshotSkip })
	alarms[0].Name = "CORRUPT"
	pod, _ = s.untilPod(t, "doubtful")
	s.Ends(t, pod, task.Result{Snapshot: controllertest.SnapshotOf("snap.db"), Database: &v1beta2.SnapshotDatabase{SizeBytes: 1, Alarms: alarms}})
	s.replaced(t, "doubtful", "lowered")
	done := meta.FindStatusCondition(s.restore(t, "doubtful").Status.Conditions, v1beta2.ConditionRestored)
	if !strings.Contains(done.Message, "CORRUPT of member beef") || !strings.Contains(done.Message, "may be wrong") {
		t.Errorf("it ends with %q", done.Message)
	}
}

// refusedEdit has a cluster whose spec was edited, and is reconciled by the one before: with what was edited the volumes
// would have to shrink. What runs on the snapshot is the version before, too.
func (s *stage) refusedEdit(t *testing.T) {
	c := s.runningWith(t, "shrunk", v1beta2.EtcdClusterSpec{Size: 1, Version: "3.5.32", Pod: onVolumes("4Gi")})
	accepted, err := json.Marshal(c.Spec)
	must(t, err)
	c.Status.AcceptedSpec = &runtime.RawExtension{Raw: accepted}
	must(t, s.Status().Update(t.Context(), c))
	claim := resources.Volume(c, "shrunk-0", 1)
	claim.Annotations[resources.AnnotationMemberID] = "a0" // a size that no member has used could be lowered
	must(t, s.Create(t.Context(), claim))
	c.Spec.Version, c.Spec.Pod = "3.6.16", onVolumes("1Gi")
	must(t, s.Update(t.Context(), c))

	s.from(t, "shrunk", "shrunk", nil)
	pod, asked := s.untilPod(t, "shrunk")
	if asked.Verify.EtcdVersion != "3.5.32" {
		t.Errorf("the snapshot is verified for etcd %s", asked.Verify.EtcdVersion)
	}
	s.Ends(t, pod, task.Result{
		Snapshot: controllertest.SnapshotOf("snap.db"), DataVersion: "3.5", Database: &v1beta2.SnapshotDatabase{SizeBytes: gibi},
	})
	s.untilPhase(t, "shrunk", v1beta2.RestoreSaving)
}
