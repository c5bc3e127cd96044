package v1beta2_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// testRestoreSource asks in which ways a snapshot may be chosen, by an EtcdRestore and by an EtcdCluster alike.
func testRestoreSource(t *testing.T, c client.Client) {
	storage := map[string]any{"url": "s3://bucket/folder"}
	for name, tc := range map[string]struct {
		from map[string]any
		want string
	}{
		"the latest":               {map[string]any{"storage": storage}, ""},
		"of a cluster ID":          {map[string]any{"storage": storage, "clusterID": "00C0ffee00c0ffee"}, ""},
		"of a backup's cluster ID": {map[string]any{"backup": map[string]any{"name": "b"}, "clusterID": "c0ffee"}, ""},
		"and before a time":        {map[string]any{"storage": storage, "clusterID": "c0ffee", "before": "2026-01-02T03:04:05Z"}, ""},
		"a former passphrase":      {map[string]any{"storage": storage, "encryptionSecret": "p"}, "encryptionSecretRef.name now"},
		"an identity":              {map[string]any{"storage": storage, "identitySecretRef": map[string]any{"name": "i"}}, ""},
		"an identity without name": {map[string]any{"storage": storage, "identitySecretRef": map[string]any{}}, "identitySecretRef.name: Required"},
		"a passphrase, and an identity": {map[string]any{
			"storage": storage, "encryptionSecretRef": map[string]any{"name": "p"}, "identitySecretRef": map[string]any{"name": "i"},
		}, "give encryptionSecretRef (a passphrase) or identitySecretRef"},
		"a former authority":    {map[string]any{"storage": map[string]any{"url": "s3://b/f", "caSecret": "ca"}}, "caSecret caBundleRef.name"},
		"of no ID":              {map[string]any{"storage": storage, "clusterID": "example"}, "clusterID"},
		"of too long an ID":     {map[string]any{"storage": storage, "clusterID": "00c0ffee00c0ffee0"}, "clusterID"},
		"of an ID, and by name": {map[string]any{"storage": storage, "clusterID": "c0ffee", "snapshot": "x"}, "give snapshot or clusterID, not both"},
		"of an ID, and by path": {map[string]any{
			"backupStorageType": "S3", "s3": map[string]any{"path": "b/k", "awsSecret": "a"}, "clusterID": "c0ffee",
		}, "clusterID choose among"},
		"of a name, and by path": {map[string]any{
			"backupStorageType": "S3", "s3": map[string]any{"path": "b/k", "awsSecret": "a"}, "snapshot": "x",
		}, "clusterID choose among"},
		"of a time, and by path": {map[string]any{
			"backupStorageType": "S3", "s3": map[string]any{"path": "b/k", "awsSecret": "a"}, "before": "2026-01-02T03:04:05Z",
		}, "clusterID choose among"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := map[string]any{"etcdCluster": map[string]any{"name": "c"}}
			for field, value := range tc.from {
				spec[field] = value
			}
			check(t, c.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": v1beta2.GroupVersion.String(), "kind": "EtcdRestore",
				"metadata": map[string]any{"name": "r", "namespace": "default"}, "spec": spec,
			}}, client.DryRunAll), tc.want)
			born := cluster("c", nil)
			set(born, map[string]any{"spec.restoreFrom": tc.from})
			check(t, c.Create(t.Context(), born, client.DryRunAll), tc.want)
		})
	}
}
