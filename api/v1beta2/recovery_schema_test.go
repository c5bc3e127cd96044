package v1beta2_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// testRecovery asks for what may be said of a lost quorum, in an EtcdCluster and in an EtcdRestore.
func testRecovery(t *testing.T, c client.Client) {
	for name, tc := range map[string]struct {
		fields map[string]any
		want   string
	}{
		"nothing":      {map[string]any{"spec.recovery": map[string]any{}}, ""},
		"by a backup":  {map[string]any{"spec.recovery.backup.name": "nightly"}, ""},
		"by no backup": {map[string]any{"spec.recovery.backup": map[string]any{}}, "spec.recovery.backup.name: Required"},
	} {
		t.Run(name, func(t *testing.T) {
			object := cluster("c", nil)
			set(object, tc.fields)
			check(t, c.Create(t.Context(), object, client.DryRunAll), tc.want)
		})
	}
	backup, member := map[string]any{"name": "b"}, map[string]any{"name": "c-1", "plan": "0123456789ab"}
	for name, tc := range map[string]struct {
		spec map[string]any
		want string
	}{
		"a member":                   {map[string]any{"member": member, "backup": backup}, ""},
		"a member, saved":            {map[string]any{"member": member, "backup": backup, "safetySnapshot": "Take"}, ""},
		"a member, and nowhere":      {map[string]any{"member": member}, "say from where, in one way"},
		"a member without a plan":    {map[string]any{"member": map[string]any{"name": "c-1"}, "backup": backup}, "spec.member.plan: Required"},
		"a member and any plan":      {map[string]any{"member": map[string]any{"name": "c-1", "plan": "any"}, "backup": backup}, "spec.member.plan"},
		"a member and a snapshot":    {map[string]any{"member": member, "backup": backup, "snapshot": "s"}, "with member the snapshot is taken from it"},
		"a member and a cluster ID":  {map[string]any{"member": member, "backup": backup, "clusterID": "c0ffee"}, "with member the snapshot is taken from it"},
		"a member that is not saved": {map[string]any{"member": member, "backup": backup, "safetySnapshot": "Skip"}, "remove safetySnapshot"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.spec["etcdCluster"] = map[string]any{"name": "c"}
			check(t, c.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": v1beta2.GroupVersion.String(), "kind": "EtcdRestore",
				"metadata": map[string]any{"name": "r", "namespace": "default"}, "spec": tc.spec,
			}}, client.DryRunAll), tc.want)
		})
	}
}
