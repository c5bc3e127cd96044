package controllers_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/controllers/reservations"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// leaseForbidden is about an operator that has rights in the one namespace alone: it cannot know, and people have to tell it.
func leaseForbidden(t *testing.T, r *rivals) {
	a := r.plain(t, former)
	r.settle(t, a)
	narrow := rest.CopyConfig(r.config)
	narrow.Impersonate = rest.ImpersonationConfig{UserName: "narrow", Groups: []string{"system:authenticated"}}
	controllertest.Must(t, r.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "narrow"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "etcd-operator-manager-role"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "narrow"}},
	}))
	own := testenv.Client(t, narrow)
	controllertest.Await(t, "the right to read pods", func() error {
		return own.List(t.Context(), &corev1.PodList{}, client.InNamespace(r.namespace))
	})
	b := r.operator(t, present, own, own)
	before := r.all(t)
	for range 10 {
		r.passes(t, b)
		r.later(glance)
	}
	if now := r.all(t); !maps.Equal(now, before) {
		t.Errorf("there was %v, and there is %v", before, now)
	}
	recorded := b.recordedEvents()
	if len(recorded) != 1 || !strings.Contains(recorded[0], "may not read that Lease") || !strings.Contains(recorded[0], a.String()) {
		t.Fatalf("it said %q", recorded)
	}
	_, command, _ := strings.Cut(recorded[0], "kubectl patch "+strings.ToLower(kindOf(r.kind.object))+" o -n "+r.namespace+" ")
	body, ok := strings.CutPrefix(command, "--subresource=status --type=merge -p '")
	if !ok {
		t.Fatalf("it does not say what to do: %q", recorded)
	}
	patch := client.RawPatch(types.MergePatchType, []byte(strings.TrimSuffix(body, "'")))
	controllertest.Must(t, r.Status().Patch(t.Context(), r.read(t), patch))
	r.claimed(t, claim.Operator{})
	r.passes(t, b)
	r.claimed(t, b.Operator)
}

// withoutLease is about an operator on someone's machine: it claims nothing, and minds others.
func withoutLease(t *testing.T, r *rivals) {
	a, b := r.plain(t, former), r.plain(t, "")
	r.settle(t, b)
	r.claimed(t, claim.Operator{})
	if len(r.all(t)) == r.given && !r.written(t) {
		t.Error("it does nothing about what is nobody's")
	}
	r.passes(t, a)
	r.claimed(t, a.Operator)
	r.settle(t, a)
	before := r.all(t)
	for range 5 {
		r.renews(t, a.Operator)
		r.passes(t, b)
		r.later(glance)
	}
	if now := r.all(t); !maps.Equal(now, before) {
		t.Errorf("there was %v, and there is %v", before, now)
	}
	for range 5 {
		r.passes(t, b)
		r.later(glance)
	}
	r.settle(t, b)
	r.claimed(t, a.Operator)
	if got := r.leftToOthers(t); got != 0 {
		t.Errorf("it does not act where the other one is gone; the metric is %v", got)
	}
	r.renews(t, a.Operator)
	r.passes(t, b)
	if got := r.leftToOthers(t); got != 1 {
		t.Errorf("it acts although the other one is back; the metric is %v", got)
	}
}

// leaseUnreadable wants nothing to be done while it cannot be known whether the other one is there.
func leaseUnreadable(t *testing.T, r *rivals) {
	a, own := r.plain(t, former), r.own(t)
	r.settle(t, a)
	broken := errors.New("the API server has other worries")
	failing := interceptor.NewClient(own, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*coordinationv1.Lease); ok {
				return broken
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
	b, before := r.operator(t, present, own, failing), r.all(t)
	for range 10 {
		if _, err := r.pass(t, b); !errors.Is(err, broken) {
			t.Fatalf("the pass ends with %v", err)
		}
		r.later(glance)
	}
	if now := r.all(t); !maps.Equal(now, before) {
		t.Errorf("there was %v, and there is %v", before, now)
	}
}

// olderDefinition drops the claim: whoever cannot claim does nothing, and says why, and not at once again.
func olderDefinition(t *testing.T, r *rivals) {
	own := r.own(t)
	older := interceptor.NewClient(own, interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object,
			opts ...client.SubResourceUpdateOption,
		) error {
			switch o := o.(type) {
			case *v1beta2.EtcdCluster:
				o.Status.Operator = nil
			case *v1beta2.EtcdBackup:
				o.Status.Operator = nil
			case *v1beta2.EtcdRestore:
				o.Status.Operator = nil
			case *v1beta2.EtcdUser:
				o.Status.Operator = nil
			case *v1beta2.EtcdRole:
				o.Status.Operator = nil
			}
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
	})
	a := r.operator(t, former, older, own)
	for range 3 {
		if _, err := r.pass(t, a); err == nil || !strings.Contains(err.Error(), "apply the CRDs of this version") {
			t.Fatalf("the pass ends with %v", err)
		}
	}
	if now := r.all(t); len(now) != r.given || len(r.read(t).GetFinalizers()) > 0 {
		t.Errorf("there is %v", now)
	}
}

// looksSeldom wants a Lease to be read once in ten seconds, however often and for however many it matters, and never without
// need.
func looksSeldom(t *testing.T, r *rivals) {
	a, own, reads, ofItself := r.plain(t, former), r.own(t), 0, 0
	counting := interceptor.NewClient(own, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*coordinationv1.Lease); ok {
				if key.Name != reservations.LeaseName || key.Namespace != former && key.Namespace != present {
					t.Errorf("it reads %s", key)
				}
				if key.Namespace == present {
					ofItself++
				} else {
					reads++
				}
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
	b := r.operator(t, present, own, counting)
	r.renews(t, b.Operator)
	r.passes(t, b)
	r.settle(t, b)
	if reads > 0 || ofItself != 1 {
		t.Errorf("%d reads for what is its own, and %d of its own", reads, ofItself)
	}
	r.remove(t)
	r.create(t)
	r.settle(t, a)
	const looks = 3
	for range looks {
		for range 10 {
			r.passes(t, b)
			r.later(time.Second)
		}
	}
	if reads != looks || ofItself != 1 {
		t.Errorf("%d reads in %d s, and %d of its own", reads, 10*looks, ofItself)
	}
}

// staleClaim has the operator see a claim of its own in the cache that it has lost: nothing is written on that.
func staleClaim(t *testing.T, r *rivals) {
	own := r.own(t)
	var cached *v1beta2.EtcdCluster
	lagging := interceptor.NewClient(own, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if cluster, ok := o.(*v1beta2.EtcdCluster); ok && cached != nil {
				cached.DeepCopyInto(cluster)
				return nil
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
	a, b := r.operator(t, former, lagging, own), r.plain(t, present)
	r.settle(t, a)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "o-client"}}
	controllertest.Must(t, r.Delete(t.Context(), service.DeepCopy()))
	r.settle(t, a)
	controllertest.Must(t, r.Get(t.Context(), client.ObjectKeyFromObject(service), service)) // as long as it is its own
	cached = r.read(t).(*v1beta2.EtcdCluster)
	lost := cached.DeepCopy()
	lost.Status.Operator = &v1beta2.OperatorReference{Namespace: b.Namespace, Lease: b.Lease}
	controllertest.Must(t, r.Status().Update(t.Context(), lost))
	controllertest.Must(t, r.Delete(t.Context(), service))
	before := r.all(t)
	for range 3 {
		r.passes(t, a)
	}
	if now := r.all(t); !maps.Equal(now, before) {
		t.Errorf("there was %v, and there is %v", before, now)
	}
}
