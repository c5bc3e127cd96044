package etcdcluster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// secure is what a cluster has after its first switch.
var secure = member.Transport{PeerTLS: true, ClientTLS: true, PeerPort: member.OtherPeerPort}

// TestSwitchOfRunningCluster adds spec.tls to a cluster that runs without, and takes it away again. At no time are clients told to use what a
// member does not serve, and they have two minutes to read it. Each way, every member restarts twice.
func TestSwitchOfRunningCluster(t *testing.T) {
	w := newSwitchWorld(t)
	w.until(t, "it runs", w.done(t, member.Transport{}))
	plain := w.pods(t)

	w.ask(t, &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}})
	w.until(t, "it has TLS", w.done(t, secure))
	both := member.Transport{ClientBoth: true, ClientUntold: true, PeerBoth: true, PeerUntold: true}
	told := member.Transport{ClientTLS: true, ClientBoth: true, PeerTLS: true, PeerBoth: true, PeerPort: member.OtherPeerPort}
	w.went(t, member.Transport{}, both, told, secure)
	if w.created != 6 {
		t.Errorf("%d pods were created, want 6", w.created)
	}
	if c := w.says(t, v1beta2.ConditionCertificatesValid); c.Status != "True" {
		t.Errorf("%+v", c)
	}
	secret := &corev1.Secret{}
	must(t, w.api.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "c-client"}, secret))
	if got := string(secret.Data["endpoints"]); got != w.read(t).Status.Endpoints[0] || !strings.HasPrefix(got, "https://") {
		t.Errorf("applications are told %q", got)
	}

	w.ask(t, nil)
	w.until(t, "it has no TLS", w.done(t, member.Transport{}))
	begun := told
	begun.ClientUntold, begun.PeerUntold = true, true
	w.went(t, secure, begun, member.Transport{ClientBoth: true, PeerBoth: true}, member.Transport{})
	if w.created != 12 {
		t.Errorf("%d pods were created, want 12", w.created)
	}
	s := w.read(t).Status
	if s.TLS != nil || meta.FindStatusCondition(s.Conditions, v1beta2.ConditionCertificatesValid) != nil {
		t.Errorf("status goes on telling of certificates: %+v", s.TLS)
	}
	for i, pod := range w.pods(t) { // as if nothing had been
		before, now := plain[i].Spec.DeepCopy(), &pod.Spec
		if !equality.Semantic.DeepEqual(before, now) {
			t.Errorf("%s is\n%+v, and was\n%+v", pod.Name, now, before)
		}
	}
}

// TestSwitchAwaitsCertificates changes nothing about a cluster whose spec names Secrets that do not exist, and says so.
func TestSwitchAwaitsCertificates(t *testing.T) {
	w := newSwitchWorld(t)
	w.until(t, "it runs", w.done(t, member.Transport{}))
	w.ask(t, &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
		Member: &v1beta2.MemberSecret{PeerSecret: "missing-peer", ServerSecret: "missing-server"}, OperatorSecret: "missing-operator",
	}})
	w.until(t, "it says what is missing", func() bool {
		c := w.says(t, v1beta2.ConditionCertificatesValid)
		return c.Status == "False" && strings.Contains(c.Message, "missing-peer")
	})
	w.losePods(t, "c-1")
	w.until(t, "a lost pod is back", func() bool { return len(w.pods(t)) == 3 && len(w.read(t).Status.Members.Ready) == 3 })
	if w.went(t, member.Transport{}); w.created != 1 {
		t.Errorf("%d pods were created", w.created)
	}
	if c := w.says(t, v1beta2.ConditionReady); c.Status != "False" || !strings.Contains(c.Message, "switching to TLS for peers and clients") {
		t.Errorf("%+v", c)
	}
}

// TestSwitchThatCannotStart goes back from TLS with which no member can start: the first one that was updated is down, and others whose pods
// are lost come back as they were, also from the spec before an edit that would stop them.
func TestSwitchThatCannotStart(t *testing.T) {
	w := newSwitchWorld(t)
	w.until(t, "it runs", w.done(t, member.Transport{}))
	plain := w.pods(t)
	w.crowded = true
	w.ask(t, &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}})
	w.until(t, "the first one is down", func() bool { return len(w.running) == 2 })
	c := w.read(t)
	c.Spec.Etcd = &v1beta2.EtcdOptions{ExtraArgs: map[string]string{"snapshot-count": "5"}}
	c.Generation++
	must(t, w.api.Update(t.Context(), c))
	w.until(t, "the edit is noted", func() bool { return w.read(t).Status.FormerSpec != nil })
	for _, pod := range plain {
		if _, up := w.running[pod.Name]; !up {
			continue
		}
		w.losePods(t, pod.Name)
		w.kubelets(t)
		w.until(t, pod.Name+" is back", func() bool { return len(w.running) == 2 && len(w.read(t).Status.Members.Ready) == 2 })
		again := w.pods(t)[slices.IndexFunc(w.pods(t), func(p corev1.Pod) bool { return p.Name == pod.Name })]
		if !equality.Semantic.DeepEqual(again.Spec, pod.Spec) {
			t.Errorf("%s is\n%+v, and was\n%+v", pod.Name, again.Spec, pod.Spec)
		}
	}
	c = w.read(t)
	c.Spec.TLS, c.Spec.Etcd = nil, nil
	c.Generation++
	must(t, w.api.Update(t.Context(), c))
	w.until(t, "it has no TLS", w.done(t, member.Transport{}))
	w.went(t, member.Transport{}, member.Transport{ClientBoth: true, ClientUntold: true, PeerBoth: true, PeerUntold: true}, member.Transport{})
}

func (w *switchWorld) ask(t *testing.T, policy *v1beta2.TLSPolicy) {
	t.Helper()
	c := w.read(t)
	c.Spec.TLS = policy
	c.Generation++
	must(t, w.api.Update(t.Context(), c))
}

// done holds once the cluster has that transport, each of its members serves it, and it is Ready.
func (w *switchWorld) done(t *testing.T, want member.Transport) func() bool {
	return func() bool {
		c := w.read(t)
		for _, pod := range w.pods(t) {
			if resources.PodTransport(&pod) != want.Served() {
				return false
			}
		}
		ready := meta.IsStatusConditionTrue(c.Status.Conditions, v1beta2.ConditionReady)
		return ready && resources.Transport(c) == want && c.Status.ObservedGeneration == c.Generation
	}
}

// went compares the transports that were committed since the last time.
func (w *switchWorld) went(t *testing.T, want ...member.Transport) {
	t.Helper()
	if !slices.Equal(w.committed, want) {
		t.Errorf("it went by\n%+v, want\n%+v", w.committed, want)
	}
	w.committed = w.committed[len(w.committed)-1:]
}

func (w *switchWorld) pods(t *testing.T) []corev1.Pod {
	t.Helper()
	pods := &corev1.PodList{}
	must(t, w.api.List(t.Context(), pods, client.MatchingLabels(resources.ClusterSelector("c"))))
	return pods.Items
}

// until is as that of the world below, with kubelets that start what pods say.
func (w *switchWorld) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 600 {
		if holds() {
			return
		}
		result, err := outage.Retried(w.operator).Reconcile(t.Context(), ctrl.Request{NamespacedName: w.name})
		must(t, err)
		w.kubelets(t)
		w.check(t) // what clients are told, they are told now
		w.now.SetTime(w.now.Now().Add(result.RequeueAfter))
		w.check(t)
	}
	c := w.read(t)
	t.Fatalf("never %s: %+v; events: %s; conditions: %+v", what, resources.Transport(c), w.recordedEvents(), c.Status.Conditions)
}

// check holds that every member serves what clients are told to use, in status and in their Secret, and goes on serving what they were told
// before for two minutes.
func (w *switchWorld) check(t *testing.T) {
	t.Helper()
	c := w.read(t)
	if len(c.Status.Endpoints) == 0 {
		return
	}
	if now := resources.Transport(c); len(w.committed) == 0 || w.committed[len(w.committed)-1] != now {
		w.committed = append(w.committed, now)
	}
	w.tells(t, "status", c.Status.Endpoints[0])
	secret := &corev1.Secret{}
	if err := w.api.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "c-client"}, secret); err == nil {
		w.tells(t, "their Secret", string(secret.Data["endpoints"]))
	}
}

// tells holds the same of one place where clients are told.
func (w *switchWorld) tells(t *testing.T, where, endpoint string) {
	t.Helper()
	scheme, _, _ := strings.Cut(endpoint, ":")
	told := w.told[where]
	if scheme != told.scheme {
		told = toldScheme{scheme, told.scheme, w.now.Now()}
		w.told[where] = told
	}
	for _, pod := range w.pods(t) {
		serves := resources.PodTransport(&pod)
		if scheme == "https" && !serves.ServesClientTLS() || scheme == "http" && !serves.ServesClientPlain() {
			t.Fatalf("clients are told in %s to use %s, and %s serves %s", where, scheme, pod.Name, serves)
		}
		cut := told.former == "http" && !serves.ServesClientPlain() || told.former == "https" && !serves.ServesClientTLS()
		if ago := w.now.Now().Sub(told.since); cut && ago < 2*time.Minute {
			t.Fatalf("%s serves the former scheme no more %s after clients were told in %s", pod.Name, ago, where)
		}
	}
}
