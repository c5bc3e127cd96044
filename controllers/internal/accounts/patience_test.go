package accounts_test

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/accounts"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/access"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

var must = controllertest.Must

// TestSilentMembers has many members take a connection and never answer: a pass asks them for five seconds, and
// the next one not at all.
func TestSilentMembers(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "test", Name: "c", UID: "uid"}}
	c.Status.ClusterID = "1"
	objects := []client.Object{c}
	for i := range 7 {
		ip := controllertest.Loopback(i)
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(ip, strconv.Itoa(member.ClientPort)))
		must(t, err)
		t.Cleanup(func() { _ = listener.Close() })
		name := fmt.Sprintf("c-%d", i)
		objects = append(objects, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "test", Name: name, Labels: resources.ClusterSelector("c"), OwnerReferences: []metav1.OwnerReference{resources.Owner(c)},
			},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip},
		})
		c.Status.MemberStatuses = append(c.Status.MemberStatuses, v1beta2.MemberStatus{Name: name, Role: v1beta2.MemberRoleVoter})
	}
	scheme := runtime.NewScheme()
	must(t, errors.Join(corev1.AddToScheme(scheme), v1beta2.AddToScheme(scheme)))
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	silence := &accounts.Silence{}
	p, began := &accounts.Pass{Silence: silence}, time.Now()
	_, err := p.Etcd(t.Context(), accounts.Target{Cluster: c}, reader, reader)
	must(t, err)
	if p.Observed.Problem == nil || p.Observed.Problem.Reason != v1beta2.ReasonWaitingForEtcd {
		t.Errorf("got %+v", p.Observed.Problem)
	}
	if took := time.Since(began); took < 4*time.Second || took > 6*time.Second {
		t.Errorf("it took %s", took)
	}
	asking, end := p.Asking(t.Context())
	defer end()
	if asking.Err() == nil {
		t.Error("more can be asked")
	}
	p, began = &accounts.Pass{Silence: silence}, time.Now()
	_, err = p.Etcd(t.Context(), accounts.Target{Cluster: c}, reader, reader)
	must(t, err)
	if took := time.Since(began); took > time.Second || p.Observed.Problem == nil || p.Observed.Problem.Reason != v1beta2.ReasonWaitingForEtcd {
		t.Errorf("the next object's pass took %s, and says %+v", took, p.Observed.Problem)
	}
}

// TestQuorumLost asks nobody who cannot answer, or whose data is in doubt.
func TestQuorumLost(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "test", Name: "c"}, Status: v1beta2.EtcdClusterStatus{
		ClusterID: "1", MemberStatuses: []v1beta2.MemberStatus{{Name: "c-0", Role: v1beta2.MemberRoleVoter}},
		Conditions: []metav1.Condition{{Type: v1beta2.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonQuorumLost}},
	}}
	scheme := runtime.NewScheme()
	must(t, v1beta2.AddToScheme(scheme))
	found, err := accounts.Find(t.Context(), fake.NewClientBuilder().WithScheme(scheme).WithObjects(c).Build(), "test", "c")
	must(t, err)
	if p := found.Problem; p == nil || p.Reason != v1beta2.ReasonWaitingForEtcd || !strings.Contains(p.Message, "quorum") {
		t.Errorf("got %+v", p)
	}
	c.Status.Hibernation = "Hibernated"
	found, err = accounts.Find(t.Context(), fake.NewClientBuilder().WithScheme(scheme).WithObjects(c).Build(), "test", "c")
	must(t, err)
	if p := found.Problem; p == nil || p.Reason != v1beta2.ReasonHibernated {
		t.Errorf("while it hibernates: got %+v", p)
	}
	c.Status.Hibernation = ""
	c.Status.Conditions[0].Type, c.Status.Conditions[0].Reason = v1beta2.ConditionReady, v1beta2.ReasonRevisionRegressed
	found, err = accounts.Find(t.Context(), fake.NewClientBuilder().WithScheme(scheme).WithObjects(c).Build(), "test", "c")
	must(t, err)
	if p := found.Problem; p == nil || p.Reason != v1beta2.ReasonWaitingForCluster || !strings.Contains(p.Message, "nothing is changed") {
		t.Errorf("with data that is older than it was: got %+v", p)
	}
}

// TestAskAgain wants an etcd that does not answer to be asked less and less often.
func TestAskAgain(t *testing.T) {
	now := time.Now()
	p := &accounts.Pass{Action: access.Wait(failure.Problem{Reason: v1beta2.ReasonWaitingForEtcd})}
	for since, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, 30 * time.Second: 30 * time.Second, time.Hour: time.Minute,
	} {
		since := metav1.NewTime(now.Add(-since))
		got := p.Again([]metav1.Condition{{Type: v1beta2.ConditionReady, LastTransitionTime: since}}, now).RequeueAfter
		if got < want || got > want+want/10 {
			t.Errorf("since %s: asked again after %s, want %s", now.Sub(since.Time), got, want)
		}
	}
}
