package controllers_test

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// account is an EtcdUser or EtcdRole of the cluster c.
func account(t *testing.T, kind, name string) *unstructured.Unstructured {
	t.Helper()
	u := sensitiveField{path: "spec.name"}.object(kind)
	u.SetGenerateName("")
	u.SetName(name)
	if kind == "EtcdUser" {
		must(t, unstructured.SetNestedMap(u.Object, map[string]any{}, "spec", "clientCertificate"))
	}
	return u
}

// statusOfAccounts says how users log in, and whose object it is.
func (a *access) statusOfAccounts(t *testing.T) {
	a.allow(t, "impostor", rbacv1.PolicyRule{APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"*"}})
	c := a.as(t, "impostor")
	for _, kind := range []string{"EtcdUser", "EtcdRole"} {
		u := account(t, kind, "status")
		must(t, a.Create(t.Context(), u))
		must(t, unstructured.SetNestedField(u.Object, "1", "status", "clusterID"))
		await(t, "a refusal of "+kind, func() error {
			err := c.Status().Update(t.Context(), u.DeepCopy(), &client.SubResourceUpdateOptions{
				UpdateOptions: client.UpdateOptions{DryRun: []string{metav1.DryRunAll}},
			})
			if denied(err, "status: impostor may not create pods") {
				return nil
			}
			return fmt.Errorf("got %w", err)
		})
		must(t, a.Status().Update(t.Context(), u))
	}
}

// accounts may be changed by who may be root in their cluster, and labelled by who may change them.
func (a *access) accounts(t *testing.T) {
	a.allow(t, "granter", rbacv1.PolicyRule{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdusers", "etcdroles"}, Verbs: []string{"patch"},
	})
	c := a.as(t, "granter")
	patch := func(u *unstructured.Unstructured, text string) error {
		return c.Patch(t.Context(), u.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(text)), client.DryRunAll)
	}
	for kind, change := range map[string]string{
		"EtcdUser": `{"spec":{"roles":["root"]}}`,
		"EtcdRole": `{"spec":{"permissions":[{"type":"Read","prefix":""}]}}`,
	} {
		u := account(t, kind, "changed")
		must(t, a.Create(t.Context(), u))
		await(t, "the right to label an "+kind, func() error { return patch(u, `{"metadata":{"labels":{"a":"b"}}}`) })
		if err := patch(u, change); !denied(err, "spec.etcdCluster.name: granter may not get Secret c-agent") {
			t.Errorf("%s %s: got %v", kind, change, err)
		}
	}
	a.allow(t, "granter", secret("c-agent"))
	await(t, "the right to grant root", func() error { return patch(account(t, "EtcdUser", "changed"), `{"spec":{"roles":["root"]}}`) })
}
