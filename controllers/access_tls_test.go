package controllers_test

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// agentOf is the right to what backups and restores of a cluster connect with.
func agentOf(cluster string) rbacv1.PolicyRule { return secret(certificates.AgentName(cluster)) }

func secret(name string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{name}, Verbs: []string{"get"}}
}

// certificates of a cluster are what an EtcdBackup reads all of its data with: it is of no other cluster than its author has the
// right to.
func (a *access) certificates(t *testing.T) {
	const user = "keeper"
	a.allow(t, user, rbacv1.PolicyRule{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdbackups"}, Verbs: []string{"create", "patch"},
	}, agentOf("c"), secret("ours"))
	u := sensitiveField{path: "spec.etcdCluster.name"}.object("EtcdBackup")
	u.SetName("of-a-cluster")
	must(t, unstructured.SetNestedField(u.Object, "c", "spec", "etcdCluster", "name"))
	must(t, unstructured.SetNestedField(u.Object, "ours", "spec", "storage", "credentialsSecretRef", "name"))
	c := a.as(t, user)
	await(t, "the right to back up one's own", func() error { return c.Create(t.Context(), u.DeepCopy()) })
	for patch, refused := range map[string]bool{
		`{"spec":{"etcdCluster":{"name":"theirs"}}}`:  true,
		`{"spec":{"storage":{"url":"s3://b/other"}}}`: false,
		`{"spec":{"schedule":"@daily"}}`:              false,
	} {
		err := c.Patch(t.Context(), u.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch)), client.DryRunAll)
		if refused != denied(err, "spec.etcdCluster.name: "+user+" may not get Secret theirs-agent") || refused != (err != nil) {
			t.Errorf("%s: got %v", patch, err)
		}
	}
	a.allow(t, "other", rbacv1.PolicyRule{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdbackups"}, Verbs: []string{"patch"},
	}, secret("ours"))
	other := a.as(t, "other")
	await(t, "the right to change when", func() error {
		schedule := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"schedule":"@daily"}}`))
		return other.Patch(t.Context(), u.DeepCopy(), schedule, client.DryRunAll)
	})
	elsewhere := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"storage":{"url":"s3://b/other"}}}`))
	err := other.Patch(t.Context(), u.DeepCopy(), elsewhere, client.DryRunAll)
	if !denied(err, "spec.etcdCluster.name: other may not get Secret c-agent") {
		t.Errorf("data of a cluster goes somewhere else: got %v", err)
	}
}

const static = `{"member":{"peerSecret":"ours","serverSecret":"ours"},"operatorSecret":"ours"}`

// leaving are changes of the specs of clusters with managed certificates, by the field that these are in: whether the cluster would
// trust other authorities.
var leaving = map[string]map[string]bool{
	"tls": {
		`{"tls":{"managed":null,"static":` + static + `}}`: true,
		`{"tls":null,"TLS":{"static":` + static + `}}`:     true,
		`{"tls":null}`:                                  true,
		`{"tls":{"managed":null}}`:                      true,
		`{"tls":{"managed":null},"TLS":{"managed":{}}}`: true,
		`{"tls":null,"TLS":{"managed":{}}}`:             false,
		`{"tls":{"managed":{"leafDuration":"240h","extraServerNames":["e.example"]}}}`: false,
		`{"size":3}`: false,
	},
	"TLS": {
		`{"TLS":{"managed":null,"static":` + static + `}}`: true,
		`{"TLS":null,"tls":{"static":` + static + `}}`:     true,
		`{"tls":{"static":` + static + `}}`:                true,
		`{"tls":{}}`:                                       true,
		`{"TLS":null}`:                                     true,
		`{"TLS":null,"tls":{"managed":{}}}`:                false,
		`{"tls":{"managed":{}}}`:                           false,
	},
}

// opening are changes of such a spec that let clients in without certificates, by the field that they are in.
var opening = map[string]string{
	"tls": `{"tls":{"managed":{},"plaintextClients":"Allowed"}}`, "TLS": `{"TLS":{"managed":{},"plaintextClients":"Allowed"}}`,
}

// authorities of the operator say who is a member and who is a client: in their place nobody puts their own who could not have had
// theirs anyway.
func (a *access) authorities(t *testing.T) {
	for field, name := range map[string]string{"tls": "managed", "TLS": "legacy-managed"} {
		user := "of-" + name
		a.allow(t, user, clusters("patch"), secret("ours"))
		u := sensitiveField{path: "spec.paused"}.object("EtcdCluster")
		u.SetName(name)
		must(t, unstructured.SetNestedField(u.Object, true, "spec", "paused"))
		must(t, unstructured.SetNestedMap(u.Object, map[string]any{}, "spec", field, "managed"))
		must(t, a.Create(t.Context(), u.DeepCopy()))
		c := a.as(t, user)
		change := func(spec string) error {
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":`+spec+`}`))
			return c.Patch(t.Context(), u.DeepCopy(), patch, client.DryRunAll)
		}
		await(t, "the right to patch", func() error { return change(`{"paused":false}`) })
		refusal := "spec." + field + ".managed: " + user + " may not get Secret " + certificates.AuthorityName(name)
		for spec, refused := range leaving[field] {
			if err := change(spec); refused != denied(err, refusal) || refused != (err != nil) {
				t.Errorf("%s of %s: got %v", spec, field, err)
			}
		}
		refusal = "spec." + field + ".plaintextClients: " + user + " may not get Secret " + certificates.AuthorityName(name)
		if err := change(opening[field]); !denied(err, refusal) {
			t.Errorf("%s of %s: got %v", opening[field], field, err)
		}
		a.allow(t, user, secret(certificates.AuthorityName(name)))
		await(t, "the right to "+opening[field], func() error { return change(opening[field]) })
		for spec := range leaving[field] {
			await(t, "the right to "+spec, func() error { return change(spec) })
		}
	}
}
