package etcdcluster

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestNamesakeAuthority creates an EtcdCluster anew so soon that the operator never sees that the former one is gone. Whoever stole that one's
// authority puts it where the new cluster's is kept: it is a stranger's, and the operator is not who it was for the former cluster either.
func TestNamesakeAuthority(t *testing.T) {
	r, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
	p.cluster.Spec.TLS, p.before = &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}, &v1beta2.EtcdClusterStatus{}
	must(t, r.observeCertificates(t.Context(), p))
	former := p.certified
	written := slices.IndexFunc(former.Writes, func(w certificates.Write) bool { return w.Kind == certificates.KindAuthority })
	if written < 0 || len(former.Authorities) != 2 {
		t.Fatalf("the former cluster has no authorities: %+v", former.Decision)
	}
	renewed := p.cluster.DeepCopy()
	renewed.UID = "d"
	must(t, r.Client.Create(t.Context(), resources.AuthoritySecret(renewed, former.Writes[written].Data, "")))
	p.cluster = renewed
	must(t, r.observeCertificates(t.Context(), p))
	warned := slices.ContainsFunc(p.certified.Warnings, func(w string) bool { return strings.Contains(w, "has not recorded: it is not used") })
	if !warned || slices.ContainsFunc(p.certified.Authorities, func(a string) bool { return slices.Contains(former.Authorities, a) }) {
		t.Errorf("the new cluster has authorities of the former one, warnings %q", p.certified.Warnings)
	}
}
