package controllers_test

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// leavingOut a Secret, or naming another one in its place, takes the right to it: what was encrypted would not be any more, or
// for someone else.
func (a *access) leavingOut(t *testing.T) {
	const user = "changer"
	a.allow(t, user, rbacv1.PolicyRule{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdbackups", "etcdclusters"}, Verbs: []string{"patch"},
	}, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"ours"}, Verbs: []string{"get"},
	})
	c := a.as(t, user)
	for _, f := range []struct{ kind, field string }{
		{"EtcdBackup", "encryptionSecretRef.name"},
		{"EtcdBackup", "clientTLSSecret"},
		{"EtcdBackup", "passwordSecretRef.name"},
		{"EtcdCluster", "tls.static.member.peerSecret"},
		{"EtcdCluster", "tls.static.member.serverSecret"},
		{"EtcdCluster", "tls.static.operatorSecret"},
		{"EtcdCluster", "TLS.static.member.peerSecret"},
		{"EtcdCluster", "TLS.static.member.serverSecret"},
		{"EtcdCluster", "TLS.static.operatorSecret"},
	} {
		u := sensitiveField{path: "spec." + f.field}.object(f.kind)
		if f.kind == "EtcdBackup" {
			must(t, unstructured.SetNestedField(u.Object, "ours", "spec", "storage", "credentialsSecretRef", "name"))
		}
		u.SetName("without-" + inLowerCase(f.field))
		must(t, a.Create(t.Context(), u.DeepCopy()))
		for _, value := range []string{"null", `"ours"`} {
			parts := strings.Split(f.field, ".")
			if value == "null" { // a reference goes as a whole
				parts = strings.Split(strings.TrimSuffix(f.field, ".name"), ".")
			}
			patch := client.RawPatch("application/merge-patch+json", []byte(
				`{"spec":{"`+strings.Join(parts, `":{"`)+`":`+value+strings.Repeat("}", len(parts)+1)))
			await(t, "a refusal", func() error {
				err := c.Patch(t.Context(), u.DeepCopy(), patch, client.DryRunAll)
				if denied(err, "spec."+f.field+": "+user+" may not get Secret theirs") {
					return nil
				}
				return fmt.Errorf("%s of %s: got %w", value, f.field, err)
			})
			must(t, a.Patch(t.Context(), u.DeepCopy(), patch, client.DryRunAll))
		}
		label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))
		must(t, c.Patch(t.Context(), u.DeepCopy(), label, client.DryRunAll))
	}
	extra := sensitiveField{path: "spec.pod.priorityClassName"}.object("EtcdBackup")
	must(t, unstructured.SetNestedField(extra.Object, "theirs", "spec", "storage", "credentialsSecretRef", "name"))
	extra.SetName("without-pod")
	must(t, a.Create(t.Context(), extra.DeepCopy()))
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"pod":null}}`))
	if err := c.Patch(t.Context(), extra, patch, client.DryRunAll); !denied(err, "spec.storage.credentialsSecretRef.name") {
		t.Errorf("what is left out counts as no change: got %v", err)
	}
}

// elsewhere sends a password to other endpoints, which takes the right to it.
func (a *access) elsewhere(t *testing.T) {
	const user = "sender"
	a.allow(t, user, rbacv1.PolicyRule{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdbackups"}, Verbs: []string{"patch"},
	}, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"ours"}, Verbs: []string{"get"},
	})
	u := sensitiveField{path: "spec.passwordSecretRef.name"}.object("EtcdBackup")
	must(t, unstructured.SetNestedField(u.Object, "ours", "spec", "storage", "credentialsSecretRef", "name"))
	u.SetName("elsewhere")
	must(t, a.Create(t.Context(), u.DeepCopy()))
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"etcdEndpoints":["http://elsewhere:2379"]}}`))
	await(t, "a refusal", func() error {
		err := a.as(t, user).Patch(t.Context(), u.DeepCopy(), patch, client.DryRunAll)
		if denied(err, "spec.passwordSecretRef.name: "+user+" may not get Secret theirs") {
			return nil
		}
		return fmt.Errorf("got %w", err)
	})
	must(t, a.Patch(t.Context(), u.DeepCopy(), patch, client.DryRunAll))
}

// leavingOutFormer takes the right to the passphrase for an EtcdBackup that has it under the name of before the first release: it
// is not carried out as long as it has.
func (a *access) leavingOutFormer(t *testing.T) {
	const user = "leaver"
	a.allow(t, user, rbacv1.PolicyRule{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdbackups"}, Verbs: []string{"patch"},
	}, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"ours"}, Verbs: []string{"get"},
	})
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "etcdbackups." + v1beta2.GroupVersion.Group},
	}}
	rules := "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/encryptionSecret/x-kubernetes-validations"
	must(t, a.Patch(t.Context(), crd, client.RawPatch("application/json-patch+json", []byte(`[{"op":"remove","path":"`+rules+`"}]`))))
	u := sensitiveField{path: "spec.encryptionSecret"}.object("EtcdBackup")
	must(t, unstructured.SetNestedField(u.Object, "ours", "spec", "storage", "credentialsSecretRef", "name"))
	u.SetName("with-former-name")
	await(t, "an object as stored before", func() error { return a.Create(t.Context(), u.DeepCopy()) })
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"encryptionSecret":null}}`))
	await(t, "a refusal", func() error {
		err := a.as(t, user).Patch(t.Context(), u.DeepCopy(), patch, client.DryRunAll)
		if denied(err, "spec.encryptionSecretRef.name: "+user+" may not get Secret theirs") {
			return nil
		}
		return fmt.Errorf("got %w", err)
	})
	must(t, a.Patch(t.Context(), u.DeepCopy(), patch, client.DryRunAll))
}
