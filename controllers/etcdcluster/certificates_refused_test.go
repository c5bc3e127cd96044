package etcdcluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestRefusedUserSecret has the Secret of a user refused, or held while it is being deleted: the decision knows since when and why, and what
// others need is written.
func TestRefusedUserSecret(t *testing.T) {
	user := v1beta2.EtcdUser{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app", UID: "app"}}
	user.Spec.ClientCertificate = &v1beta2.UserCertificate{SecretName: "app-tls"}
	for title, words := range map[string]string{"a webhook": "none of yours", "a finalizer": "hold it: example.com/hold): do what they wait for, or remove them"} {
		t.Run(title, func(t *testing.T) {
			var written []string
			r, p := onePass(t, plan.Idle{}, interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
					if o.GetName() == "app-tls" && len(o.GetFinalizers()) == 0 {
						return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "app-tls", errors.New("none of yours"))
					}
					written = append(written, o.GetName())
					return c.Create(ctx, o, options...)
				},
			})
			p.live, p.before, p.observed.Cluster.ID, p.users = true, &v1beta2.EtcdClusterStatus{}, 1, []v1beta2.EtcdUser{user}
			p.transport, p.cluster.Spec.TLS = member.Transport{PeerTLS: true, ClientTLS: true}, &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}
			p.sides = p.transport
			if title == "a finalizer" {
				deleted(t, r, resources.UserSecret(p.cluster, &user, nil))
			}
			for range 3 {
				must(t, r.decideCertificates(t.Context(), p))
				must(t, r.applyCertificates(t.Context(), p))
				p.before.Authorities, p.before.Roots = p.certified.Authorities, p.certified.Roots
			}
			if problem := p.certified.Problem; problem == nil || !strings.Contains(problem.Message, "Secret app-tls") ||
				!strings.Contains(problem.Message, words) || problem.Reason != v1beta2.ReasonWriteRefused {
				t.Errorf("it says %+v", problem)
			}
			if !slices.Contains(written, "c-0-tls") || !slices.Contains(written, "c-client") {
				t.Errorf("it writes %q", written)
			}
		})
	}
}

// TestAwaitsWhatIsServed makes a decision anew that goes on with what members serve, although there is a problem and nothing else has changed.
func TestAwaitsWhatIsServed(t *testing.T) {
	for _, awaited := range []bool{false, true} {
		before := &certified{Decision: certificates.Decision{Problem: &failure.Problem{Message: "no"}, AskServed: awaited}, decided: noon}
		if same := before.again(digest{}, digest{}, nil, nil, noon.Add(rotationPoll)); (same == nil) != awaited {
			t.Errorf("awaited: %t; it stands: %t", awaited, same != nil)
		}
	}
}
