package objectcache_test

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
)

// TestTrimCluster checks that only kubectl's copy of the manifest goes, and that what certificates have in common is kept once.
func TestTrimCluster(t *testing.T) {
	c := &v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{Size: 3}}
	c.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "etcd.database.coreos.com/scope": "clusterwide"}
	c.Status.TLS = &v1beta2.TLSStatus{Certificates: []v1beta2.CertificateStatus{
		{Secret: "c-0-tls", Use: "peer", Issuer: "CN=peers"}, {Secret: "c-0-tls", Use: "server", Issuer: strings.Clone("CN=peers")},
	}}
	want := c.DeepCopy()
	delete(want.Annotations, corev1.LastAppliedConfigAnnotation)
	got := controllertest.Trimmed(t, c)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if all := got.Status.TLS.Certificates; unsafe.StringData(all[0].Issuer) != unsafe.StringData(all[1].Issuer) {
		t.Error("the issuer of two certificates is there twice")
	}
}
