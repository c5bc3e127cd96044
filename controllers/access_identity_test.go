package controllers_test

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// identity is what pods have whose spec names neither a Secret nor a ServiceAccount: that of the ServiceAccount default.
func (a *access) identity(t *testing.T) {
	const user = "saver"
	a.allow(t, user, rbacv1.PolicyRule{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdbackups", "etcdrestores", "etcdclusters"},
		Verbs: []string{"create"},
	}, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"ours"}, Verbs: []string{"get"},
	}, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}}, agentOf("c"))
	c := a.as(t, user)
	type fields = map[string]any
	for _, p := range []struct {
		place fields
		asks  bool
	}{
		{fields{"storage": fields{"url": "s3://b/p"}}, true},
		{fields{"storage": fields{"url": "azblob://b/p"}, "s3": fields{"path": "b/k", "awsSecret": "ours"}}, true},
		{fields{"storage": fields{"url": "s3://b/p", "credentialsSecretRef": fields{"name": "ours"}, "endpoint": "http://minio:9000"}}, false},
		{fields{"storage": fields{"url": "file:///p", "persistentVolumeClaim": "ours"}}, false},
		{fields{"storageType": "S3", "s3": fields{"path": "b/k", "awsSecret": "ours"}}, false},
		{fields{"storageType": "S3", "s3": fields{"path": "b/k"}, "gcs": fields{"path": "b/k", "gcpSecret": "ours"}}, true},
		{fields{"storageType": "GCS", "gcs": fields{"path": "b/k"}}, true},
	} {
		for _, kind := range []string{"EtcdBackup", "EtcdRestore", "EtcdCluster"} {
			u := placed(t, kind, p.place)
			var last error
			await(t, "what was asked of "+kind, func() error {
				last = c.Create(t.Context(), u.DeepCopy(), client.DryRunAll)
				if p.asks == denied(last, "torage without a secret: "+user+" may not impersonate ServiceAccount default") && p.asks == (last != nil) {
					return nil
				}
				return fmt.Errorf("%s of %v: got %w", kind, p.place, last)
			})
		}
	}
	a.withoutAccount(t)
	a.allow(t, user, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"default"}, Verbs: []string{"impersonate"},
	})
	await(t, "the right to that identity", func() error {
		return c.Create(t.Context(), placed(t, "EtcdBackup", fields{"storage": fields{"url": "s3://b/p"}}), client.DryRunAll)
	})
}

// withoutAccount leaves the ServiceAccount out of a cluster that is to start from a place without a Secret: its pods would have the
// identity of the default one from then on.
func (a *access) withoutAccount(t *testing.T) {
	t.Helper()
	const user = "account-leaver"
	a.allow(t, user, rbacv1.PolicyRule{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdclusters"}, Verbs: []string{"patch"},
	})
	u := placed(t, "EtcdCluster", map[string]any{"storage": map[string]any{"url": "s3://b/p"}})
	u.SetName("with-account")
	must(t, unstructured.SetNestedField(u.Object, "theirs", "spec", "pod", "serviceAccountName"))
	must(t, a.Create(t.Context(), u.DeepCopy()))
	label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))
	await(t, "the right to patch", func() error { return a.as(t, user).Patch(t.Context(), u.DeepCopy(), label, client.DryRunAll) })
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"pod":{"serviceAccountName":null}}}`))
	err := a.as(t, user).Patch(t.Context(), u.DeepCopy(), patch, client.DryRunAll)
	if !denied(err, "torage without a secret: "+user+" may not impersonate ServiceAccount default") {
		t.Errorf("got %v", err)
	}
}

// placed is an object whose snapshots are there. Only an EtcdBackup calls a type of storage so.
func placed(t *testing.T, kind string, place map[string]any) *unstructured.Unstructured {
	t.Helper()
	u := sensitiveField{path: "spec.storage.url"}.object(kind)
	spec := u.Object["spec"].(map[string]any)
	delete(spec, "storage")
	if kind == "EtcdCluster" {
		u.SetName("placed")
		from := map[string]any{}
		spec["restoreFrom"], spec = from, from
	}
	for field, value := range place {
		if field == "storageType" && kind != "EtcdBackup" {
			field = "backupStorageType"
		}
		spec[field] = value
	}
	if kind == "EtcdBackup" {
		u.SetName("placed")
	}
	return u
}
