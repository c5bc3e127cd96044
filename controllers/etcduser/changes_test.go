package etcduser_test

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/accounts"
)

// drift wants what objects name to be corrected, and everything else to be left alone.
func (e *env) drift(t *testing.T) {
	user := e.user(t, "drifting", "", "application")
	e.says(t, user, v1beta2.ReasonApplied)
	_, err := e.etcd.UserAddWithOptions(t.Context(), "stranger", "", &clientv3.UserAddOptions{NoPassword: true})
	must(t, err)
	_, err = e.etcd.UserRevokeRole(t.Context(), "drifting", "application")
	must(t, err)
	_, err = e.etcd.UserGrantRole(t.Context(), "drifting", "early")
	must(t, err)
	e.look(t, user)
	await(t, "the roles of before", func() error { return e.granted("drifting", "application") })
	_, err = e.etcd.UserDelete(t.Context(), "drifting")
	must(t, err)
	e.look(t, user)
	await(t, "the user again", func() error { return e.granted("drifting", "application") })
	must(t, e.granted("stranger"))
}

func (e *env) nameTaken(t *testing.T) {
	first := e.user(t, "first", "", "application")
	e.says(t, first, v1beta2.ReasonApplied)
	second := &v1beta2.EtcdUser{ObjectMeta: named("second"), Spec: v1beta2.EtcdUserSpec{
		EtcdCluster: v1beta2.EtcdClusterRef{Name: clusterName}, Name: "first", ClientCertificate: &v1beta2.UserCertificate{},
	}}
	must(t, e.Create(t.Context(), second))
	older, younger := first, second
	if accounts.Older(second, first) { // created in the same second
		older, younger = second, first
		e.look(t, first)
	}
	e.says(t, younger, v1beta2.ReasonNameTaken)
	await(t, "the roles of the older one", func() error { return e.granted("first", older.Spec.Roles...) })
	must(t, e.Delete(t.Context(), older))
	e.says(t, younger, v1beta2.ReasonApplied)
	await(t, "the roles of its heir", func() error { return e.granted("first", younger.Spec.Roles...) })
}

// restored wants users to be created again in an etcd cluster that has another ID: their passwords there are those of the snapshot.
func (e *env) restored(t *testing.T) {
	user := e.read(t, "drifting")
	before := user.DeepCopy()
	user.Status.ClusterID = "1"
	must(t, e.Status().Patch(t.Context(), user, client.MergeFrom(before)))
	revision := e.revision(t)
	e.look(t, user)
	await(t, "the user in the other cluster", func() error {
		must(t, e.Get(t.Context(), client.ObjectKeyFromObject(user), user))
		if user.Status.ClusterID != e.id {
			return errors.New(user.Status.ClusterID)
		}
		return nil
	})
	if got := e.revision(t) - revision; got != 3 {
		t.Errorf("%d changes in etcd, want three: delete, create, grant", got)
	}
}

func (e *env) paused(t *testing.T) {
	e.pause(t, true)
	user := e.user(t, "late", "")
	e.says(t, user, v1beta2.ReasonPaused)
	e.pause(t, false)
	e.says(t, user, v1beta2.ReasonApplied)
}

func (e *env) pause(t *testing.T, paused bool) {
	t.Helper()
	c := &v1beta2.EtcdCluster{ObjectMeta: named(clusterName)}
	e.edit(t, c, func() { c.Spec.Paused = paused })
}

func (e *env) deletion(t *testing.T) {
	role, user := &v1beta2.EtcdRole{ObjectMeta: named("late")}, e.read(t, "waiting")
	for _, o := range []client.Object{role, user} {
		must(t, e.Delete(t.Context(), o))
		e.gone(t, o)
	}
	if _, err := e.etcd.RoleGet(t.Context(), "late"); err == nil {
		t.Error("the role is there")
	}
	if _, err := e.etcd.UserGet(t.Context(), "waiting"); err == nil {
		t.Error("the user is there")
	}
}

// clusterDeleted wants nothing to wait for an etcd that is about to go.
func (e *env) clusterDeleted(t *testing.T) {
	c := &v1beta2.EtcdCluster{}
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: clusterName}, c))
	c.Finalizers = []string{"test/keeps"}
	must(t, e.Update(t.Context(), c))
	must(t, e.Delete(t.Context(), c))
	user := e.read(t, "drifting")
	must(t, e.Delete(t.Context(), user))
	e.gone(t, user)
	must(t, e.granted("drifting", "application"))
	must(t, e.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	c.Finalizers = nil
	must(t, e.Update(t.Context(), c))
	role := &v1beta2.EtcdRole{ObjectMeta: named("app")}
	must(t, e.Delete(t.Context(), role))
	e.gone(t, role)
}
