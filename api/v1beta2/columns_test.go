package v1beta2_test

import (
	"encoding/json"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// testColumns reads what kubectl get shows, of a cluster that serves and whose disk is slow, of a backup that cannot be
// carried out, and of a restore that has failed.
func testColumns(t *testing.T, config *rest.Config, c client.Client) {
	condition := func(kind, status, reason, message string) any {
		return map[string]any{
			"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-01-02T03:04:05Z",
		}
	}
	shown := cluster("shown", nil)
	must(t, c.Create(t.Context(), shown))
	set(shown, map[string]any{
		"status.conditions": []any{
			condition("Available", "True", "HasQuorum", "a quorum answers"), condition("Ready", "True", "DiskSlow", "shown-0 leads"),
			condition("Progressing", "False", "SpecReached", "3 of 3"), condition("Degraded", "True", "DiskSlow", "shown-0 leads"),
		},
		"status.readyMembers": int64(3), "status.readySummary": "3/3", "status.currentVersion": "3.6.16", "status.storage": "emptyDir", "status.leader": "shown-0",
	})
	must(t, c.Status().Update(t.Context(), shown))
	table(t, config, shown, "etcdclusters",
		[]string{"Name", "Available", "Ready", "Members", "Version", "Storage", "Status"},
		[]any{"shown", "True", "True", "3/3", "3.6.16", "emptyDir", "DiskSlow"})

	backup := of("EtcdBackup", "shown", map[string]any{
		"etcdCluster": map[string]any{"name": "shown"}, "storage": map[string]any{"url": "s3://b/p"},
	})
	must(t, c.Create(t.Context(), backup))
	set(backup, map[string]any{"status.conditions": []any{
		condition("BackedUp", "Unknown", "NoBackupYet", ""), condition("Progressing", "False", "ClusterMissing", "create it"),
	}})
	must(t, c.Status().Update(t.Context(), backup))
	table(t, config, backup, "etcdbackups",
		[]string{"Name", "Cluster", "Result", "Last success", "Snapshots", "Status"},
		[]any{"shown", "shown", "NoBackupYet", nil, nil, "ClusterMissing"})

	restore := of("EtcdRestore", "shown", map[string]any{
		"etcdCluster": map[string]any{"name": "shown"}, "storage": map[string]any{"url": "s3://b/p"},
	})
	must(t, c.Create(t.Context(), restore))
	set(restore, map[string]any{
		"status.phase": "Failed", "status.conditions": []any{condition("Restored", "False", "SnapshotDamaged", "use another one")},
	})
	must(t, c.Status().Update(t.Context(), restore))
	table(t, config, restore, "etcdrestores",
		[]string{"Name", "Cluster", "Phase", "Status"}, []any{"shown", "shown", "Failed", "SnapshotDamaged"})

	user := of("EtcdUser", "shown", map[string]any{
		"etcdCluster": map[string]any{"name": "shown"}, "clientCertificate": map[string]any{},
	})
	must(t, c.Create(t.Context(), user))
	set(user, map[string]any{
		"status.user": "app", "status.login": "Certificate", "status.conditions": []any{condition("Ready", "False", "RoleNotFound", "create it")},
	})
	must(t, c.Status().Update(t.Context(), user))
	table(t, config, user, "etcdusers", []string{"Name", "Cluster", "User", "Login", "Ready", "Status"},
		[]any{"shown", "shown", "app", "Certificate", "False", "RoleNotFound"})

	role := of("EtcdRole", "shown", map[string]any{"etcdCluster": map[string]any{"name": "shown"}})
	must(t, c.Create(t.Context(), role))
	set(role, map[string]any{"status.role": "app", "status.conditions": []any{condition("Ready", "True", "Applied", "")}})
	must(t, c.Status().Update(t.Context(), role))
	table(t, config, role, "etcdroles", []string{"Name", "Cluster", "Role", "Ready", "Status"}, []any{"shown", "shown", "app", "True", "Applied"})
}

func of(kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1beta2.GroupVersion.String(), "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": "default"}, "spec": spec,
	}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// table wants these columns to be shown without -o wide, the age as the last one.
func table(t *testing.T, config *rest.Config, object client.Object, resource string, names []string, cells []any) {
	t.Helper()
	config = rest.CopyConfig(config)
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	c, err := rest.UnversionedRESTClientFor(config)
	must(t, err)
	text, err := c.Get().AbsPath("/apis", v1beta2.GroupVersion.String(), "namespaces/default", resource, object.GetName()).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	must(t, err)
	shown := &metav1.Table{}
	must(t, json.Unmarshal(text, shown))
	var gotNames []string
	var gotCells []any
	for i, column := range shown.ColumnDefinitions {
		if column.Priority == 0 {
			gotNames, gotCells = append(gotNames, column.Name), append(gotCells, shown.Rows[0].Cells[i])
		}
	}
	last := len(gotNames) - 1
	if gotNames[last] != "Age" || !reflect.DeepEqual(gotNames[:last], names) || !reflect.DeepEqual(gotCells[:last], cells) {
		t.Errorf("%s: %q %v, want %q %v and Age", resource, gotNames, gotCells, names, cells)
	}
}
