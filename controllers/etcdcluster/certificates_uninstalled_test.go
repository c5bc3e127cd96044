package etcdcluster

import (
	"context"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestCertManagerUninstalled has cert-manager's kinds vanish, all of them or those of requests only, after the operator has found them: the
// API server says of every object of theirs that it does not exist. The members go on with the authorities that they have, get new
// certificates by these, and the condition says what to do.
func TestCertManagerUninstalled(t *testing.T) {
	absent := apierrors.NewGenericServerResponse(404, "", schema.GroupResource{}, "", "the server could not find the requested resource", 0, true)
	for title, requestsOnly := range map[string]bool{"all": false, "requests only": true} {
		t.Run(title, func(t *testing.T) {
			var written []string
			var cluster *v1beta2.EtcdCluster
			r, p := onePass(t, plan.Idle{}, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					found, is := o.(*unstructured.Unstructured)
					switch {
					case !is:
						return c.Get(ctx, key, o, opts...)
					case requestsOnly:
						found.Object = resources.Certificate(cluster, strings.HasSuffix(key.Name, "-peer")).Object
						return nil
					}
					return absent
				},
				List: func(ctx context.Context, c client.WithWatch, o client.ObjectList, opts ...client.ListOption) error {
					if _, is := o.(*unstructured.UnstructuredList); is {
						return absent
					}
					return c.List(ctx, o, opts...)
				},
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
					if _, is := o.(*unstructured.Unstructured); is {
						return absent
					}
					written = append(written, o.GetName())
					return c.Create(ctx, o, opts...)
				},
			})
			cluster = p.cluster
			p.live, p.before, p.observed.Cluster.ID = true, &v1beta2.EtcdClusterStatus{}, 1
			p.transport, p.cluster.Spec.TLS = member.Transport{PeerTLS: true, ClientTLS: true}, &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
			p.sides = p.transport
			pass := func() {
				t.Helper()
				must(t, r.decideCertificates(t.Context(), p))
				must(t, r.applyCertificates(t.Context(), p))
				p.before.Authorities, p.before.Roots = p.certified.Authorities, p.certified.Roots
			}
			pass()
			pass()
			p.cluster.Spec.TLS.Managed.IssuerRef = &v1beta2.IssuerRef{Name: "house"}
			must(t, r.Client.Delete(t.Context(), resources.MemberSecret(p.cluster, "c-0", nil)))
			written = nil
			pass()
			if !slices.Contains(written, "c-0-tls") {
				t.Errorf("it writes %q", written)
			}
			problem := p.certified.Problem
			if problem == nil || problem.Reason != v1beta2.ReasonIssuerUnavailable || !strings.Contains(problem.Message, "install cert-manager") {
				t.Errorf("it says %+v", problem)
			}
		})
	}
}
