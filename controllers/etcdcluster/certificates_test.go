package etcdcluster

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// securedPass is a pass of a cluster that new members of are to trust what Secret c-trust-new holds, and status names c-trust-old.
func securedPass(existing ...string) *pass {
	peers, secrets := member.Transport{PeerTLS: true}, map[string]*outline{}
	for _, name := range existing {
		secrets[name] = &outline{}
	}
	return &pass{
		cluster:   &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}},
		before:    &v1beta2.EtcdClusterStatus{TLS: &v1beta2.TLSStatus{TrustSecret: "c-trust-old"}},
		transport: peers,
		certified: &certified{Decision: certificates.Decision{TrustHash: "new"}, secrets: secrets},
		action:    plan.CreatePods{Pods: []plan.NewPod{{Name: "c-0", Transport: peers}, {Name: "c-1", Transport: peers}}},
	}
}

// TestPodsAwaitTheirSecrets creates no pod before what it mounts exists, and before status names whom it trusts; and a pod that lacks its
// certificates keeps no other one waiting.
func TestPodsAwaitTheirSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		pass  *pass
		pods  []string
		waits string
	}{
		"what is decided cannot be written: what was recorded is used": {
			pass: securedPass("c-trust-old", "c-0-tls", "c-1-tls"), pods: []string{"c-0", "c-1"},
		},
		"neither exists":                 {pass: securedPass("c-0-tls", "c-1-tls"), waits: "Secret c-trust-old, with the authorities"},
		"it exists, and is not recorded": {pass: securedPass("c-trust-old", "c-trust-new", "c-0-tls"), waits: "recording the authorities"},
		"one lacks its certificates":     {pass: securedPass("c-trust-old", "c-1-tls"), pods: []string{"c-1"}},
		"both do":                        {pass: securedPass("c-trust-old"), waits: "no certificate that all members accept can be given yet to c-0"},
	} {
		switch a := c.pass.withCertificates().(type) {
		case plan.Wait:
			if c.waits == "" || !strings.Contains(a.Message, c.waits) {
				t.Errorf("%s: it waits: %s", name, a.Message)
			}
		case plan.CreatePods:
			var pods []string
			for _, p := range a.Pods {
				pods = append(pods, p.Name)
			}
			if strings.Join(pods, " ") != strings.Join(c.pods, " ") {
				t.Errorf("%s: pods %v, want %v", name, pods, c.pods)
			}
		default:
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// TestGoneTrust changes no certificate while it is not known what a running member trusts, and creates again what it can.
func TestGoneTrust(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-0"}}
	pod.Spec.Volumes = []corev1.Volume{{Name: resources.TrustVolume, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: "c-trust-old"},
	}}}
	p := securedPass()
	p.pods = map[string]*corev1.Pod{"c-0": pod}
	seen := certificates.Observed{Pods: []certificates.Pod{{Name: "c-0"}}}
	for hash, want := range map[string]struct{ problem, trust string }{"new": {"c-trust-old", ""}, "old": {"", "old"}} {
		d := certificates.Decision{TrustHash: hash, Writes: []certificates.Write{{Kind: certificates.KindMember, Member: "c-0"}}, Settled: true}
		hold(&d, seen, p)
		if len(d.Writes) > 0 || d.Settled || d.TrustHash != want.trust {
			t.Errorf("%s: %+v", hash, d)
		}
		if want.problem == "" && d.Problem != nil || want.problem != "" && (d.Problem == nil || !strings.Contains(d.Problem.Message, want.problem)) {
			t.Errorf("%s: problem %+v, want %q", hash, d.Problem, want.problem)
		}
	}
	seen.Pods[0].Trust = map[string][]byte{"peer-ca.crt": nil}
	d := certificates.Decision{TrustHash: "new", Settled: true}
	if hold(&d, seen, p); !d.Settled || d.Problem != nil {
		t.Errorf("although it is there: %+v", d)
	}
}

// TestPodsWithoutTrust updates no pod while it is not known what it is to trust, as is the case until the authorities are recorded.
func TestPodsWithoutTrust(t *testing.T) {
	for recorded, drifts := range map[string]bool{"": false, "c-trust-same": false, "c-trust-other": true} {
		r, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
		p.transport, p.certified = member.Transport{PeerTLS: true}, &certified{}
		p.before = &v1beta2.EtcdClusterStatus{TLS: &v1beta2.TLSStatus{TrustSecret: "c-trust-same"}}
		var err error
		p.pods["c-0"], err = resources.Pod(p.cluster, "c-0", 1, nil, r.optionsFor(p, plan.NewPod{Name: "c-0", Version: "3.6.16", Persistent: true, Transport: p.transport}))
		must(t, err)
		p.before.TLS.TrustSecret = recorded
		must(t, r.observePods(p))
		if got := p.observed.Pods[0].Drift.Template; got != drifts {
			t.Errorf("%q is recorded: it differs: %v", recorded, got)
		}
	}
}

// TestUnreadableSecrets goes on with what was known when the operator may not read a cluster's Secrets any more.
func TestUnreadableSecrets(t *testing.T) {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "c-ca", errors.New("no"))
	before := &certified{Decision: certificates.Decision{TrustHash: "old", Writes: []certificates.Write{{}}}}
	for _, known := range []*certified{nil, before} {
		after := unreadable(known, err, noon)
		if after.Problem == nil || !strings.Contains(after.Problem.Message, "c-ca") || len(after.Writes) > 0 || !after.until.After(noon) {
			t.Errorf("%+v", after)
		}
		if known != nil && after.TrustHash != "old" {
			t.Errorf("it forgets what new members are to trust: %+v", after)
		}
	}
	if len(before.Writes) == 0 {
		t.Error("what was known is changed")
	}
}

// TestExistingTrust uses a trust Secret that nothing names any more, and none that holds something else or is somebody else's.
func TestExistingTrust(t *testing.T) {
	r, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
	p.live, p.certified = true, &certified{}
	data := map[string][]byte{"peer-ca.crt": []byte("ca")}
	must(t, r.writeSecret(t.Context(), p, resources.TrustSecret(p.cluster, "known", data)))
	must(t, r.writeSecret(t.Context(), p, resources.TrustSecret(p.cluster, "known", data)))
	other := resources.TrustSecret(p.cluster, "known", map[string][]byte{"peer-ca.crt": []byte("another")})
	if err := r.writeSecret(t.Context(), p, other); !errors.Is(err, errNameTaken) {
		t.Errorf("other authorities: %v", err)
	}
	foreign := resources.TrustSecret(p.cluster, "foreign", data)
	foreign.OwnerReferences = nil
	must(t, r.Client.Create(t.Context(), foreign))
	if err := r.writeSecret(t.Context(), p, resources.TrustSecret(p.cluster, "foreign", data)); !errors.Is(err, errNameTaken) {
		t.Errorf("another owner's: %v", err)
	}
	member := resources.MemberSecret(p.cluster, "c-3", data)
	member.OwnerReferences = nil
	must(t, r.Client.Create(t.Context(), member))
	if err := r.writeSecret(t.Context(), p, resources.MemberSecret(p.cluster, "c-3", data)); !errors.Is(err, errNameTaken) {
		t.Errorf("a member's, of another owner: %v", err)
	}
}

// TestSecretOfFormerCluster waits for a Secret of a former cluster of the same name, which is about to be deleted.
func TestSecretOfFormerCluster(t *testing.T) {
	r, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
	p.live, p.certified = true, &certified{}
	former := resources.MemberSecret(p.cluster, "c-3", nil)
	former.OwnerReferences[0].UID = "former"
	must(t, r.Client.Create(t.Context(), former))
	if err := r.writeSecret(t.Context(), p, resources.MemberSecret(p.cluster, "c-3", nil)); !errors.Is(err, errGoing) {
		t.Errorf("%v, want that it is waited for", err)
	}
}

// TestLatestSecretOfApplications holds that the Secrets for applications are among what is kept, with the time when they were last to be
// read again: members wait for those who do. A time to come, which only others write, does not count.
func TestLatestSecretOfApplications(t *testing.T) {
	r, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
	p.before = &v1beta2.EtcdClusterStatus{}
	p.transport, p.cluster.Spec.TLS = member.Transport{PeerTLS: true, ClientTLS: true}, &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	p.sides = p.transport
	write := certificates.Write{Data: map[string][]byte{certificates.KeyCertificate: nil, certificates.KeyKey: nil}, Refresh: true}
	now := r.Clock.Now().UTC()
	must(t, r.Client.Create(t.Context(), noting(write, resources.ClientSecret(p.cluster, write.Data), now)))
	user := &v1beta2.EtcdUser{}
	user.Name, user.Spec.ClientCertificate = "app", &v1beta2.UserCertificate{SecretName: "app-tls"}
	p.users = []v1beta2.EtcdUser{*user}
	must(t, r.Client.Create(t.Context(), noting(write, resources.UserSecret(p.cluster, user, write.Data), now.Add(time.Hour))))
	other := user.DeepCopy()
	other.Name, other.Spec.ClientCertificate.SecretName = "other", "other-tls"
	p.users = append(p.users, *other)
	must(t, r.Client.Create(t.Context(), noting(write, resources.UserSecret(p.cluster, other, write.Data), now.Add(time.Second))))
	seen, _, err := r.readCertificates(t.Context(), p)
	must(t, err)
	if len(seen.Users) != 2 || !seen.Refreshed.Equal(now) || !seen.UsersRefreshed.Equal(now.Add(time.Second)) {
		t.Errorf("got %v and %v of %d users, want %v and a second later", seen.Refreshed, seen.UsersRefreshed, len(seen.Users), now)
	}
}
