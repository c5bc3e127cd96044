package v1beta2_test

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// testLegacyObjects wants no field of the old API to be refused or dropped.
func testLegacyObjects(t *testing.T, c client.Client) {
	strict := client.WithFieldValidation(c, "Strict")
	for _, file := range []string{"testdata/legacy_cluster.yaml", "testdata/legacy_backups.yaml"} {
		for _, u := range manifests(t, file) {
			check(t, strict.Create(t.Context(), u, client.DryRunAll), "")
		}
	}
}

// testLegacyStatus takes an object over whose status an old operator wrote.
func testLegacyStatus(t *testing.T, c client.Client) {
	u := manifests(t, "testdata/legacy_cluster.yaml")[0]
	u.SetName("taken-over")
	check(t, c.Create(t.Context(), u), "")
	set(u, map[string]any{"status": legacyStatus(t)})
	check(t, c.Status().Update(t.Context(), u), "")

	got := &v1beta2.EtcdCluster{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(u), got); err != nil {
		t.Fatalf("read it: %v", err)
	}
	if len(got.Status.Conditions) != 3 || got.Status.Members.Unready[0] != "everything-0002" {
		t.Fatalf("read %+v", got.Status)
	}
	// A user edits it before our first status write: the old conditions must not stand in the way.
	got.Spec.Paused = false
	if err := c.Update(t.Context(), got); err != nil {
		t.Fatalf("edit it: %v", err)
	}
	// A typed write sends "null" for a time that is not there.
	meta.SetStatusCondition(&got.Status.Conditions, metav1.Condition{
		Type: "Recovering", Status: metav1.ConditionTrue, Reason: v1beta2.ReasonHasQuorum,
	})
	if err := c.Status().Update(t.Context(), got); err != nil {
		t.Fatalf("write its status: %v", err)
	}
}

// testLegacyBackupStatus reads the null that the old operator stored for "never".
func testLegacyBackupStatus(t *testing.T, c client.Client) {
	u := manifests(t, "testdata/legacy_backups.yaml")[0]
	u.SetName("never-succeeded")
	check(t, c.Create(t.Context(), u), "")
	set(u, map[string]any{
		"status": map[string]any{"succeeded": false, "Reason": "failed to save", "lastSuccessDate": nil},
	})
	check(t, c.Status().Update(t.Context(), u), "")

	got := &v1beta2.EtcdBackup{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(u), got); err != nil {
		t.Fatalf("read it: %v", err)
	}
	if got.Status.Reason != "failed to save" || got.Status.LastSuccessDate != nil {
		t.Errorf("read %+v", got.Status)
	}
}

func legacyStatus(t *testing.T) map[string]any {
	t.Helper()
	data, err := os.ReadFile("testdata/legacy_status.yaml")
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]any{}
	if err := yaml.Unmarshal(data, &status); err != nil {
		t.Fatal(err)
	}
	return status
}

func testStorage(t *testing.T, c client.Client) {
	const want = "give the storage that"
	for name, tc := range map[string]struct {
		kind, typeField, storageType, stanza string
		want                                 string
	}{
		"backup S3 with s3":        {"EtcdBackup", "storageType", "S3", "s3", ""},
		"backup S3 with gcs":       {"EtcdBackup", "storageType", "S3", "gcs", want},
		"backup OSS with oss":      {"EtcdBackup", "storageType", "OSS", "oss", ""},
		"backup of unknown type":   {"EtcdBackup", "storageType", "Tape", "s3", "Unsupported value"},
		"restore GCS with gcs":     {"EtcdRestore", "backupStorageType", "GCS", "gcs", ""},
		"restore ABS with abs":     {"EtcdRestore", "backupStorageType", "ABS", "abs", ""},
		"restore ABS with s3":      {"EtcdRestore", "backupStorageType", "ABS", "s3", want},
		"restore without its type": {"EtcdRestore", "storageType", "ABS", "abs", "backupStorageType"},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": v1beta2.GroupVersion.String(), "kind": tc.kind,
				"metadata": map[string]any{"name": "b", "namespace": "default"},
				"spec": map[string]any{
					tc.typeField: tc.storageType,
					tc.stanza:    map[string]any{"path": "bucket/key"},
				},
			}}
			set(u, map[string]any{"spec.etcdCluster.name": "c"})
			check(t, c.Create(t.Context(), u, client.DryRunAll), tc.want)
		})
	}
}
