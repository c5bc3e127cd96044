package etcdcluster_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// manyCertificates has more EtcdUsers get certificates than status has room for.
func (e *env) manyCertificates(t *testing.T) {
	const users, own, room = 66, 6, 64 // own: the member's two, the authorities, client and agent
	for i := range users {
		name := fmt.Sprintf("crowd-user-%02d", i)
		must(t, e.Create(t.Context(), &v1beta2.EtcdUser{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: v1beta2.EtcdUserSpec{
				EtcdCluster: v1beta2.EtcdClusterRef{Name: "crowd"}, ClientCertificate: &v1beta2.UserCertificate{SecretName: name},
			},
		}))
	}
	e.cluster(t, "crowd", v1beta2.EtcdClusterSpec{Size: 1, TLS: &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}})
	await(t, "a status that the API server takes", func() error {
		tls := e.read(t, "crowd").Status.TLS
		if tls == nil || len(tls.Certificates) != room || tls.UnlistedCertificates != users+own-room {
			return fmt.Errorf("status.tls is %+v", tls)
		}
		return nil
	})
	e.ownCertificates(t)
}

func (e *env) ownCertificates(t *testing.T) {
	listed := map[string]bool{}
	for _, c := range e.read(t, "crowd").Status.TLS.Certificates {
		listed[c.Secret+"/"+c.Use] = true
	}
	for _, name := range []string{
		"crowd-0-tls/peer", "crowd-0-tls/server", "crowd-ca/peer", "crowd-ca/server", "crowd-client/tls", "crowd-agent/etcd-client",
	} {
		if !listed[name] {
			t.Errorf("the cluster's own %s is not listed", name)
		}
	}
}
