package etcdcluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdcluster"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// noSecrets refuses to have Secrets read.
type noSecrets struct {
	client.Reader
	refuses bool
}

// Get implements client.Reader.
func (n *noSecrets) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if _, secret := o.(*corev1.Secret); secret && n.refuses {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, key.Name, errors.New("no"))
	}
	return n.Reader.Get(ctx, key, o, options...)
}

// TestSwitchTellsApplicationsFirst goes on serving applications with TLS until two minutes after their Secret says that they are to use none,
// although for an hour it cannot be read or written, under an operator that goes on and under one that is restarted.
func TestSwitchTellsApplicationsFirst(t *testing.T) {
	for title, restarted := range map[string]bool{"the operator goes on": false, "the operator is restarted": true} {
		t.Run(title, func(t *testing.T) {
			w := newSwitchWorld(t)
			live := &noSecrets{Reader: w.operator.Live}
			w.operator.Live = live
			w.until(t, "it runs", w.done(t, member.Transport{}))
			w.ask(t, &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}})
			w.until(t, "it has TLS", w.done(t, secure))
			w.ask(t, nil)
			w.until(t, "clients are told", func() bool {
				now := resources.Transport(w.read(t))
				return now.ClientBoth && !now.ClientTLS
			})
			if live.refuses = true; restarted {
				was := w.operator
				w.operator = &etcdcluster.Reconciler{
					Client: was.Client, Live: was.Live, Recorder: was.Recorder, Reservations: was.Reservations, Etcd: was.Etcd, Clock: was.Clock,
					OperatorImage: was.OperatorImage, Concurrency: was.Concurrency,
				}
			}
			for end := w.now.Now().Add(time.Hour); w.now.Now().Before(end); {
				result, err := outage.Retried(w.operator).Reconcile(t.Context(), ctrl.Request{NamespacedName: w.name})
				must(t, err)
				w.kubelets(t)
				w.check(t)
				w.now.SetTime(w.now.Now().Add(result.RequeueAfter))
			}
			live.refuses = false
			w.until(t, "it has no TLS", w.done(t, member.Transport{}))
		})
	}
}
