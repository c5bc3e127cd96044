package etcduser_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }

// user creates one with a password, or with a certificate if no Secret is given.
func (e *env) user(t *testing.T, name, secret string, roles ...string) *v1beta2.EtcdUser {
	t.Helper()
	user := &v1beta2.EtcdUser{ObjectMeta: named(name), Spec: v1beta2.EtcdUserSpec{
		EtcdCluster: v1beta2.EtcdClusterRef{Name: clusterName}, Roles: roles,
	}}
	if secret == "" {
		user.Spec.ClientCertificate = &v1beta2.UserCertificate{}
	} else {
		user.Spec.PasswordSecretRef = &v1beta2.SecretKeyRef{Name: secret}
	}
	must(t, e.Create(t.Context(), user))
	return user
}

func (e *env) read(t *testing.T, name string) *v1beta2.EtcdUser {
	t.Helper()
	user := &v1beta2.EtcdUser{}
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, user))
	return user
}

// edit changes an object, whoever else writes to it.
func (e *env) edit(t *testing.T, o client.Object, change func()) {
	t.Helper()
	must(t, e.Get(t.Context(), client.ObjectKeyFromObject(o), o))
	before, _ := o.DeepCopyObject().(client.Object)
	change()
	must(t, e.Patch(t.Context(), o, client.MergeFrom(before)))
}

// look has an object looked at now.
func (e *env) look(t *testing.T, o client.Object) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"look":%q}}}`, time.Now().Format(time.RFC3339Nano))
	must(t, e.Patch(t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(patch))))
}

// says waits until Ready has the reason.
func (e *env) says(t *testing.T, o client.Object, reason string) {
	t.Helper()
	await(t, o.GetName()+" says "+reason, func() error {
		must(t, e.Get(t.Context(), client.ObjectKeyFromObject(o), o))
		var ready *metav1.Condition
		switch o := o.(type) {
		case *v1beta2.EtcdUser:
			ready = meta.FindStatusCondition(o.Status.Conditions, v1beta2.ConditionReady)
		case *v1beta2.EtcdRole:
			ready = meta.FindStatusCondition(o.Status.Conditions, v1beta2.ConditionReady)
		}
		if ready == nil || ready.Reason != reason || (ready.Status == metav1.ConditionTrue) != (reason == v1beta2.ReasonApplied) ||
			ready.ObservedGeneration != o.GetGeneration() {
			return fmt.Errorf("it says %+v", ready)
		}
		return nil
	})
}

func (e *env) gone(t *testing.T, o client.Object) {
	t.Helper()
	await(t, o.GetName()+" is gone", func() error {
		if err := e.Get(t.Context(), client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%w, finalizers %v", err, o.GetFinalizers())
		}
		return nil
	})
}

// granted says how the roles of a user differ from those wanted.
func (e *env) granted(user string, want ...string) error {
	answer, err := e.etcd.UserGet(e.etcd.Ctx(), user)
	if err != nil {
		return err
	}
	if !slices.Equal(answer.Roles, want) {
		return fmt.Errorf("user %s has the roles %v, want %v", user, answer.Roles, want)
	}
	return nil
}
