package etcdrestore_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// unlisted has no quorum ever listed the members: what exists shows whether there is anything to save, and of which member.
func (s *stage) unlisted(t *testing.T) {
	adopted := s.unheard(t, "adopted", "00c0ffee00c0ffee", true)
	s.from(t, "too-soon", adopted.Name, nil)
	s.verified(t, "too-soon")
	if o := s.untilPhase(t, "too-soon", v1beta2.RestoreReplacing); !strings.Contains(o.Status.Unsaved, "no member of it is known") {
		t.Errorf("nobody was there to be asked: %s", pretty(o))
	}

	asked := s.unheard(t, "asked", "00c0ffee00c0ffee", true)
	s.permit(t, asked, "asked-0", true)
	s.from(t, "patient", asked.Name, nil)
	s.verified(t, "patient")
	s.asks(t, "patient", "http://asked-0.asked.test.svc:2379")

	lost := s.unheard(t, "lost", "", true)
	s.from(t, "blind", lost.Name, nil)
	s.verified(t, "blind")
	if o := s.untilPhase(t, "blind", v1beta2.RestoreReplacing); !strings.Contains(o.Status.Unsaved, "no member of it is known") {
		t.Errorf("the volumes hold data: %s", pretty(o))
	}

	fleeting := s.unheard(t, "fleeting", "00c0ffee00c0ffee", false)
	s.permit(t, fleeting, "fleeting-0", false)
	s.from(t, "hasty", fleeting.Name, nil)
	s.verified(t, "hasty")
	s.sixTries(t, "hasty", v1beta2.ReasonEtcdUnreachable)
	s.says(t, s.untilPhase(t, "hasty", v1beta2.RestoreFailed), v1beta2.ReasonEtcdUnreachable, "fleeting-0 may have it on an emptyDir")

	started := s.unheard(t, "started", "", false)
	s.permit(t, started, "started-0", true)
	s.from(t, "early-bird", started.Name, nil)
	s.verified(t, "early-bird")
	s.asks(t, "early-bird", "http://started-0.started.test.svc:2379")
	if o := s.untilPhase(t, "early-bird", v1beta2.RestoreReplacing); o.Status.SafetySnapshot == nil {
		t.Errorf("it is not saved: %s", pretty(o))
	}
}

// unheard makes an EtcdCluster whose members no quorum has confirmed, with or without a volume that holds data.
func (s *stage) unheard(t *testing.T, name, id string, volume bool) *v1beta2.EtcdCluster {
	t.Helper()
	storage := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	c := &v1beta2.EtcdCluster{ObjectMeta: object(name), Spec: v1beta2.EtcdClusterSpec{
		Size: 3, Version: "3.6.4", Pod: &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
			Resources: corev1.VolumeResourceRequirements{Requests: storage},
		}},
	}}
	must(t, s.Create(t.Context(), c))
	c.Status.ClusterID = id
	c.Status.MemberStatuses = []v1beta2.MemberStatus{{Name: name + "-0", Role: v1beta2.MemberRoleNone}}
	must(t, s.Status().Update(t.Context(), c))
	if volume {
		claim := resources.Volume(c, name+"-0", 1)
		claim.Annotations[resources.AnnotationClusterID] = "00c0ffee00c0ffee"
		claim.Annotations[resources.AnnotationMemberID] = "00c0ffee00000001"
		must(t, s.Create(t.Context(), claim))
	}
	return c
}

// permit makes a pod of the cluster that may start etcd.
func (s *stage) permit(t *testing.T, c *v1beta2.EtcdCluster, name string, persistent bool) *corev1.Pod {
	t.Helper()
	pod, err := resources.Pod(c, name, 1, nil, resources.PodOptions{
		OperatorImage: "operator:test", EtcdVersion: "3.6.4", Persistent: persistent,
	})
	must(t, err)
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, member.PermitAnnotation, "{}")
	must(t, s.Create(t.Context(), pod))
	return pod
}

// asks wants the members at these addresses to be asked for what they hold, and has them give it.
func (s *stage) asks(t *testing.T, name string, urls ...string) {
	t.Helper()
	s.untilPhase(t, name, v1beta2.RestoreSaving)
	pod, asked := s.untilPod(t, name)
	if b := asked.Backup; b == nil || strings.Join(b.Endpoints, " ") != strings.Join(urls, " ") {
		t.Fatalf("the task is %+v, %+v", asked, asked.Backup)
	}
	s.Ends(t, pod, task.Result{Snapshot: controllertest.SnapshotOf("safe.db")})
}

// old has what a cluster holds saved once more as it is about to begin, however long it was kept from that, and not before.
func (s *stage) old(t *testing.T) {
	c := s.running(t, "busy", true)
	s.from(t, "delayed", c.Name, nil)
	s.verified(t, "delayed")
	s.asks(t, "delayed", "http://busy-0.busy.test.svc:2379")
	saved := s.untilPhase(t, "delayed", v1beta2.RestoreReplacing).Status.SaveTime
	if saved == nil || saved.After(s.clock.Now()) {
		t.Fatalf("it was saved at %v", saved)
	}
	says := func(reason string) {
		c := s.cluster(t, "busy")
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
			Type: v1beta2.ConditionProgressing, Status: metav1.ConditionTrue, Reason: reason,
		})
		must(t, s.Status().Update(t.Context(), c))
	}
	says(v1beta2.ReasonNameTaken)
	s.clock.SetTime(s.clock.Now().Add(time.Hour))
	s.untilSays(t, "delayed", v1beta2.ReasonRestoring)
	says(v1beta2.ReasonSaving)
	if o := s.untilPhase(t, "delayed", v1beta2.RestoreSaving); o.Status.SaveTime != nil || o.Status.SafetySnapshot != nil {
		t.Errorf("it is %s", pretty(o))
	}
	s.asks(t, "delayed", "http://busy-0.busy.test.svc:2379")
	o := s.untilPhase(t, "delayed", v1beta2.RestoreReplacing)
	for range 3 { // the cluster has yet to look
		s.step(t, "delayed")
	}
	if now := s.restore(t, "delayed"); now.Status.Phase != v1beta2.RestoreReplacing || !o.Status.SaveTime.After(saved.Time) {
		t.Errorf("it is %s", pretty(now))
	}
}
