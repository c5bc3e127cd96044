package etcdcluster_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// continues wants a restore that is deleted once the former members are gone to go on, to say so, to end where it can never be
// completed, and to give way to another one.
func (e *env) continues(t *testing.T) {
	const cluster = "lost"
	e.cluster(t, cluster, v1beta2.EtcdClusterSpec{Size: 3})
	e.podsOf(t, cluster, 3)
	e.hasBeenUp(t, cluster)

	first := e.restoreOf(cluster, "regretted")
	controllerutil.AddFinalizer(first, "test.example.com/guard") // as the EtcdRestore's controller keeps it
	must(t, e.Create(t.Context(), first))
	first.Status.SafetySnapshot = controllertest.SnapshotOf("safe.db")
	e.verified(t, first)
	e.restoring(t, cluster, first, 900)
	must(t, e.Delete(t.Context(), first))
	const gone = "the data of lost-0, lost-1, lost-2 is lost"
	e.notedAsContinuing(t, cluster, "EtcdRestore regretted was deleted", gone, "safe.db")
	e.warned(t, cluster, v1beta2.ReasonRestoreContinues, gone)

	must(t, e.Delete(t.Context(), &e.podsOf(t, cluster, 1)[0]))
	e.restoring(t, cluster, first, 900) // it is recreated
	e.cannotRestore(t, cluster)
	e.says(t, cluster, v1beta2.ReasonRestoreFailed, "it has changed since; "+gone)
	e.says(t, cluster, v1beta2.ReasonRestoreFailed, "safe.db")

	second := e.restoreOf(cluster, "instead")
	must(t, e.Create(t.Context(), second))
	e.verified(t, second)
	e.restoring(t, cluster, second, 900+task.RevisionBump)
	if s := e.read(t, cluster).Status; s.Restores[0].SafetySnapshot != "safe.db" || s.Restores[1].CalledOff == nil || len(s.Former.MemberStatuses) != 3 {
		t.Errorf("the records are %+v of %+v", s.Restores, s.Former)
	}
	must(t, e.Delete(t.Context(), second)) // no one guards this one
	e.notedAsContinuing(t, cluster, "EtcdRestore instead was deleted", gone)
	must(t, e.Delete(t.Context(), &e.podsOf(t, cluster, 1)[0]))
	e.says(t, cluster, v1beta2.ReasonRestoreFailed, "no longer exists; "+gone)
}

// hasBeenUp says in status what it would say of a cluster whose three members have answered.
func (e *env) hasBeenUp(t *testing.T, cluster string) {
	t.Helper()
	await(t, "a cluster ID in status", func() error {
		c := e.read(t, cluster)
		c.Status.ClusterID = "00c0ffee00c0ffee"
		c.Status.MemberStatuses = nil
		for i := range 3 {
			name := fmt.Sprintf("%s-%d", cluster, i)
			c.Status.MemberStatuses = append(c.Status.MemberStatuses, v1beta2.MemberStatus{Name: name, Role: v1beta2.MemberRoleVoter})
		}
		return e.Status().Update(t.Context(), c)
	})
}

func (e *env) restoreOf(cluster, name string) *v1beta2.EtcdRestore {
	return &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1beta2.EtcdRestoreSpec{
			EtcdCluster: v1beta2.EtcdClusterRef{Name: cluster}, RestoreSource: v1beta2.RestoreSource{Storage: bucket.DeepCopy()},
		},
	}
}

// notedAsContinuing wants the record of the restore under way to say why it is not canceled.
func (e *env) notedAsContinuing(t *testing.T, cluster string, why ...string) {
	t.Helper()
	await(t, "the record of a restore that goes on", func() error {
		s := e.read(t, cluster).Status
		for _, part := range why {
			if r := s.Restores[0]; s.Former == nil || r.CalledOff != nil || !strings.Contains(r.NotCalledOff, part) {
				return fmt.Errorf("the record is %+v, not %q", r, part)
			}
		}
		return nil
	})
}

// warned wants one Warning event of that reason.
func (e *env) warned(t *testing.T, cluster, reason, message string) {
	t.Helper()
	await(t, "an event "+reason, func() error {
		all := &eventsv1.EventList{}
		must(t, e.List(t.Context(), all, client.InNamespace(namespace)))
		var found []string
		for i := range all.Items {
			if o := &all.Items[i]; o.Regarding.Name == cluster && o.Reason == reason {
				found = append(found, o.Type+" "+o.Note)
			}
		}
		if len(found) != 1 || !strings.HasPrefix(found[0], corev1.EventTypeWarning) || !strings.Contains(found[0], message) {
			return fmt.Errorf("the events are %q", found)
		}
		return nil
	})
}
