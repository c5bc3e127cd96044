package controllers_test

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// recoveries save and replace all data of a cluster: whoever begins one, or says where the data goes, could restore the cluster anyway.
func (a *access) recoveries(t *testing.T) {
	const user, annotated = "rescuer", "metadata.annotations[etcd.database.coreos.com/recover]"
	a.allow(t, user, clusters("patch"))
	u := sensitiveField{path: "spec.paused"}.object("EtcdCluster")
	u.SetName("recovered")
	must(t, unstructured.SetNestedField(u.Object, true, "spec", "paused"))
	must(t, a.Create(t.Context(), u.DeepCopy()))
	c := a.as(t, user)
	change := func(patch string) error {
		return c.Patch(t.Context(), u.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch)), client.DryRunAll)
	}
	await(t, "the right to patch", func() error { return change(`{"spec":{"paused":false}}`) })
	lending := map[string]string{
		`{"metadata":{"annotations":{"etcd.database.coreos.com/recover":"0123456789ab"}}}`: annotated,
		`{"spec":{"recovery":{"backup":{"name":"b"}}}}`:                                    "spec.recovery.backup.name",
	}
	for patch, field := range lending {
		if err := change(patch); !denied(err, field+": "+user+" may not get Secret "+certificates.AgentName("recovered")) {
			t.Errorf("%s: got %v", patch, err)
		}
	}
	a.allow(t, user, agentOf("recovered"))
	for patch, field := range lending {
		await(t, "a refusal of "+patch, func() error {
			if err := change(patch); !denied(err, field+": "+user+" may not create etcdrestores") {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
	}
	a.allow(t, user, rbacv1.PolicyRule{APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdrestores"}, Verbs: []string{"create"}})
	for patch := range lending {
		await(t, "the right to "+patch, func() error { return change(patch) })
	}
	for _, patch := range []string{`{"spec":{"recovery":{}}}`, `{"metadata":{"annotations":{"a":"b"}}}`} {
		must(t, change(patch))
	}
}
