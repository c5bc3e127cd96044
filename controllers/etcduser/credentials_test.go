package etcduser_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// otherCluster is one with TLS that says it is up, and whose etcd nobody can reach.
const otherCluster = "secured"

// credentials wants an EtcdUser to say why the operator cannot be a client of its cluster, also while it is being deleted, and never to
// connect by a Secret that is not the cluster's.
func (e *env) credentials(t *testing.T) {
	c := e.secured(t)
	user := e.userOf(t, "early-bird")
	e.waitsFor(t, user, "has no Secret "+certificates.AgentName(otherCluster))
	secret := &corev1.Secret{ObjectMeta: named(certificates.AgentName(otherCluster)), Data: clientOf(t, "etcd-operator")}
	must(t, e.Create(t.Context(), secret))
	e.waitsFor(t, user, "does not own Secret "+secret.Name)
	e.edit(t, secret, func() {
		secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, v1beta2.GroupVersion.WithKind("EtcdCluster"))}
		secret.Data[certificates.KeyClientKey] = []byte("broken")
	})
	e.waitsFor(t, user, "has a Secret "+secret.Name+" by which the operator cannot connect: read the client's certificate")
	must(t, e.Delete(t.Context(), user))
	e.edit(t, secret, func() { secret.OwnerReferences = nil })
	e.waitsFor(t, user, "does not own Secret "+secret.Name)
	e.edit(t, secret, func() { // as it is to be
		secret.Data = clientOf(t, "etcd-operator")
		secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, v1beta2.GroupVersion.WithKind("EtcdCluster"))}
	})
	e.look(t, user)
	e.says(t, user, v1beta2.ReasonWaitingForEtcd)
	e.edit(t, user, func() { user.Finalizers = nil })
	e.gone(t, user)
}

// waitsFor looks at a user until it says that it waits for the cluster, and why.
func (e *env) waitsFor(t *testing.T, user *v1beta2.EtcdUser, why string) {
	t.Helper()
	await(t, user.Name+" waits: "+why, func() error {
		e.look(t, user)
		must(t, e.Get(t.Context(), client.ObjectKeyFromObject(user), user))
		ready := meta.FindStatusCondition(user.Status.Conditions, v1beta2.ConditionReady)
		if ready == nil || ready.Reason != v1beta2.ReasonWaitingForCluster || !strings.Contains(ready.Message, why) {
			return fmt.Errorf("it says %+v", ready)
		}
		return nil
	})
}

// secured is the other cluster, for whose etcd the operator needs a certificate.
func (e *env) secured(t *testing.T) *v1beta2.EtcdCluster {
	t.Helper()
	c := &v1beta2.EtcdCluster{ObjectMeta: named(otherCluster), Spec: v1beta2.EtcdClusterSpec{Size: 1, TLS: &v1beta2.TLSPolicy{
		Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{ServerSecret: "server"}, OperatorSecret: "operator"},
	}}}
	must(t, e.Create(t.Context(), c))
	c.Status.ClusterID, c.Status.Transport = e.id, &v1beta2.TransportStatus{ClientTLS: true}
	c.Status.MemberStatuses = []v1beta2.MemberStatus{{Name: otherCluster + "-0", Role: v1beta2.MemberRoleVoter}}
	must(t, e.Status().Update(t.Context(), c))
	return c
}

// self wants the operator never to touch the user that it is by its certificate, not even for an EtcdUser that is deleted.
func (e *env) self(t *testing.T) {
	own, another := e.userOf(t, "etcd-operator"), e.userOf(t, "another")
	e.says(t, own, v1beta2.ReasonNameTaken)
	e.says(t, another, v1beta2.ReasonWaitingForEtcd)
	must(t, e.Delete(t.Context(), own))
	e.gone(t, own)
}

// userOf creates an EtcdUser of the other cluster.
func (e *env) userOf(t *testing.T, name string) *v1beta2.EtcdUser {
	t.Helper()
	user := &v1beta2.EtcdUser{ObjectMeta: named(name), Spec: v1beta2.EtcdUserSpec{
		EtcdCluster: v1beta2.EtcdClusterRef{Name: otherCluster}, ClientCertificate: &v1beta2.UserCertificate{},
	}}
	must(t, e.Create(t.Context(), user))
	return user
}

// clientOf is the data of a Secret for agents, with a certificate for that user.
func clientOf(t *testing.T, user string) map[string][]byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: user}, NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	return map[string][]byte{
		certificates.KeyClientCertificate: encoded, certificates.KeyClientCA: encoded,
		certificates.KeyClientKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}),
	}
}

// openToAll wants a password to be refused for the user that all applications with the cluster's own client certificate are.
func (e *env) openToAll(t *testing.T) {
	c := &v1beta2.EtcdCluster{}
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: clusterName}, c))
	before := c.DeepCopy()
	c.Spec.TLS = &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
	must(t, e.Patch(t.Context(), c, client.MergeFrom(before)))
	user := e.user(t, certificates.ClientUser, "app-password", "application")
	e.says(t, user, v1beta2.ReasonNameTaken)
	ready := meta.FindStatusCondition(user.Status.Conditions, v1beta2.ConditionReady)
	if !strings.Contains(ready.Message, "spec.passwordSecretRef: ") || !strings.Contains(ready.Message, "Secret "+clusterName+"-client") {
		t.Errorf("it says %s", ready.Message)
	}
	if err := e.granted(certificates.ClientUser); err == nil {
		t.Error("the user was created")
	}
	e.edit(t, user, func() { user.Spec.PasswordSecretRef, user.Spec.ClientCertificate = nil, &v1beta2.UserCertificate{} })
	e.says(t, user, v1beta2.ReasonApplied)
	must(t, e.granted(certificates.ClientUser, "application"))
	before = c.DeepCopy()
	c.Spec.TLS = nil
	must(t, e.Patch(t.Context(), c, client.MergeFrom(before)))
}
