package etcdcluster_test

import (
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// managedTLS starts a cluster whose certificates the operator issues, and renews the authorities.
func (e *env) managedTLS(t *testing.T) {
	taken := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "secure-ca"}, Data: map[string][]byte{"theirs": []byte("x")}}
	must(t, e.Create(t.Context(), taken))
	e.cluster(t, "secure", v1beta2.EtcdClusterSpec{Size: 1, TLS: &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}})
	e.says(t, "secure", v1beta2.ReasonNameTaken, "Secret secure-ca")
	stranger, err := pki.NewAuthority(rand.Reader, "stranger", time.Now(), 5*365*24*time.Hour)
	must(t, err)
	certificate, key, err := stranger.Encode()
	must(t, err)
	must(t, e.Get(t.Context(), client.ObjectKeyFromObject(taken), taken))
	taken.Data = map[string][]byte{"peer.crt": certificate, "peer.key": key, "server.crt": certificate, "server.key": key}
	must(t, controllerutil.SetControllerReference(e.read(t, "secure"), taken, e.Scheme()))
	must(t, e.Update(t.Context(), taken))

	pods := e.podsOf(t, "secure", 1)
	own, trust := e.secret(t, "secure-0-tls"), e.secret(t, resources.TrustOf(&pods[0]))
	if trust.Immutable == nil || !*trust.Immutable || len(trust.Data["peer-ca.crt"]) == 0 || len(trust.Data["server-ca.crt"]) == 0 {
		t.Errorf("the pod trusts %+v", trust)
	}
	for _, key := range []string{"peer.crt", "peer.key", "server.crt", "server.key"} {
		if len(own.Data[key]) == 0 {
			t.Errorf("the member has no %s", key)
		}
	}
	for _, volume := range pods[0].Spec.Volumes {
		if s := volume.Secret; s != nil && s.SecretName != own.Name && s.SecretName != trust.Name {
			t.Errorf("the pod mounts Secret %s", s.SecretName)
		}
	}
	e.runs(t, &pods[0], "127.0.0.20")
	await(t, "a permit with the members' URLs", func() error {
		permit, err := member.ParsePermit(e.podsOf(t, "secure", 1)[0].Annotations[member.PermitAnnotation])
		if err == nil && permit.InitialCluster != "secure-0=https://secure-0.secure.test.svc:2380" {
			err = errors.New(permit.InitialCluster)
		}
		return err
	})
	if string(e.secret(t, "secure-ca").Data["peer.crt"]) == string(certificate) || strings.Contains(string(trust.Data["peer-ca.crt"]), string(certificate)) {
		t.Error("a stranger's authority is used, because it was there before the cluster")
	}
	s := e.read(t, "secure").Status
	if len(s.Authorities) != 2 {
		t.Errorf("status records the authorities %v", s.Authorities)
	}
	if s.TLS == nil || s.TLS.ClientSecret != "secure-client" || s.TLS.TrustSecret != trust.Name || len(s.TLS.Certificates) == 0 ||
		!strings.HasPrefix(s.Endpoints[0], "https://") || !meta.IsStatusConditionTrue(s.Conditions, v1beta2.ConditionCertificatesValid) {
		t.Errorf("status %+v", s)
	}
	e.userCertificate(t)
	e.rotates(t, trust.Name)
	await(t, "the user trusts both authorities while they are replaced", func() error {
		now := string(e.secret(t, "app-tls").Data["ca.crt"])
		if strings.Count(now, "BEGIN CERTIFICATE") != 2 {
			return errors.New(now)
		}
		return nil
	})
}

// userCertificate has an EtcdUser get a certificate in a Secret of its own, and nobody else's Secret be written to.
func (e *env) userCertificate(t *testing.T) {
	must(t, e.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "theirs"}}))
	for name, secret := range map[string]string{"app": "app-tls", "thief": "theirs"} {
		must(t, e.Create(t.Context(), &v1beta2.EtcdUser{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: v1beta2.EtcdUserSpec{
				EtcdCluster: v1beta2.EtcdClusterRef{Name: "secure"}, ClientCertificate: &v1beta2.UserCertificate{SecretName: secret},
			},
		}))
	}
	made := &corev1.Secret{}
	await(t, "the user's Secret", func() error {
		return e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "app-tls"}, made)
	})
	pair, err := pki.ParsePair(pki.Text{PEM: made.Data["tls.crt"]}, pki.Text{PEM: made.Data["tls.key"]})
	must(t, err)
	if owner := metav1.GetControllerOf(made); pair.Leaf().Subject.CommonName != "app" || owner == nil || owner.Kind != "EtcdUser" {
		t.Errorf("a certificate of %s, the Secret is of %+v", pair.Leaf().Subject, owner)
	}
	if theirs := e.secret(t, "theirs"); len(theirs.Data) > 0 {
		t.Error("somebody else's Secret is written to")
	}
}

// rotates asks for new authorities: those that new pods are to trust are others then, and the present ones among them.
func (e *env) rotates(t *testing.T, trust string) {
	before := e.secret(t, trust)
	e.annotate(t, "secure", "ca:1")
	await(t, "another Secret with authorities", func() error {
		tls := e.read(t, "secure").Status.TLS
		if tls.TrustSecret == trust || tls.Rotated != "ca:1" || tls.Step == "" {
			return fmt.Errorf("%+v", tls)
		}
		for key, old := range before.Data {
			if now := e.secret(t, tls.TrustSecret).Data[key]; !strings.Contains(string(now), string(old)) || len(now) <= len(old) {
				return fmt.Errorf("%s is %s", key, now)
			}
		}
		return nil
	})
}

// staticTLS starts a cluster with Secrets of the user's once they can be used, and goes on with copies when they cannot any more.
func (e *env) staticTLS(t *testing.T) {
	e.cluster(t, "given", v1beta2.EtcdClusterSpec{Size: 1, LegacyTLS: &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
		Member: &v1beta2.MemberSecret{PeerSecret: "given-peer", ServerSecret: "given-server"}, OperatorSecret: "given-operator",
	}}})
	e.says(t, "given", v1beta2.ReasonCertificatesInvalid, "Secret given-peer")
	if pods := e.podsOf(t, "given", 0); len(pods) > 0 {
		t.Errorf("pods %v exist before there are certificates", pods)
	}
	authority, err := pki.NewAuthority(rand.Reader, "test", time.Now(), time.Hour)
	must(t, err)
	ca := string(pki.Encode(authority.Chain))
	names := []string{"*.given.test.svc", "given.test.svc", "given-client.test.svc", "localhost"}
	for name, use := range map[string]string{"given-peer": "peer", "given-server": "server", "given-operator": "etcd-client"} {
		leaf, err := pki.Issue(rand.Reader, authority, pki.Request{
			CommonName: use, Names: names, Now: time.Now(), Lifetime: time.Hour,
			Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		})
		must(t, err)
		certificate, key, err := leaf.Encode()
		must(t, err)
		must(t, e.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			StringData: map[string]string{use + ".crt": string(certificate), use + ".key": string(key), use + "-ca.crt": ca},
		}))
	}
	e.annotate(t, "given", "leaves:1") // Secrets are not watched
	pods := e.podsOf(t, "given", 1)
	copied := e.secret(t, "given-0-tls").Data
	for _, volume := range pods[0].Spec.Volumes {
		if volume.Secret != nil && strings.HasPrefix(volume.Secret.SecretName, "given-peer") {
			t.Error("the pod mounts the user's Secret")
		}
	}
	must(t, e.Delete(t.Context(), e.secret(t, "given-server")))
	e.annotate(t, "given", "leaves:2")
	await(t, "the condition that names the Secret", func() error {
		c := meta.FindStatusCondition(e.read(t, "given").Status.Conditions, v1beta2.ConditionCertificatesValid)
		if c == nil || c.Reason != v1beta2.ReasonCertificatesInvalid || !strings.Contains(c.Message, "given-server") {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
	if now := e.secret(t, "given-0-tls").Data; !maps.EqualFunc(now, copied, func(a, b []byte) bool { return string(a) == string(b) }) {
		t.Error("the member's copy has changed")
	}
}

// annotate changes what a decision about certificates depends on, so that it is made anew.
func (e *env) annotate(t *testing.T, name, value string) {
	t.Helper()
	object := e.read(t, name)
	before := object.DeepCopy()
	object.Annotations = map[string]string{v1beta2.AnnotationRotate: value}
	must(t, e.Patch(t.Context(), object, client.MergeFrom(before)))
}

func (e *env) secret(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, secret))
	return secret
}
