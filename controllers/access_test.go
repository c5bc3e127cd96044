package controllers_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

const namespace = "test"

var must, await = controllertest.Must, controllertest.Await

// access is a real API server with the policies of config/default, and users with some of the rights there.
type access struct {
	client.Client
	config *rest.Config
}

// TestAccess asks who may have the operator do what. A field that names a Secret, a ServiceAccount or a whole pod is found in
// the types themselves: none can be forgotten.
func TestAccess(t *testing.T) {
	config := testenv.Start(t)
	a := &access{testenv.Client(t, config), config}
	controllertest.InstallRoles(t, a.Client)
	controllertest.Install(t, a.Client, "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
	must(t, a.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	editor := []rbacv1.PolicyRule{{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdbackups", "etcdrestores"}, Verbs: []string{"*"},
	}}
	a.allow(t, "editor", append(editor, clusters("get", "update", "patch"))...)
	a.enforced(t)
	t.Run("beside a bundle", beside)
	for kind, spec := range map[string]reflect.Type{
		"EtcdBackup":  reflect.TypeFor[v1beta2.EtcdBackupSpec](),
		"EtcdRestore": reflect.TypeFor[v1beta2.EtcdRestoreSpec](),
		"EtcdCluster": reflect.TypeFor[v1beta2.EtcdClusterSpec](),
		"EtcdUser":    reflect.TypeFor[v1beta2.EtcdUserSpec](),
		"EtcdRole":    reflect.TypeFor[v1beta2.EtcdRoleSpec](),
	} {
		for _, field := range sensitive("spec", spec) {
			t.Run(kind+" "+field.path, func(t *testing.T) { a.field(t, kind, field) })
		}
	}
	t.Run("creator", a.creator)
	t.Run("updates", a.updates)
	t.Run("leaving out", a.leavingOut)
	t.Run("a password to elsewhere", a.elsewhere)
	t.Run("leaving out the former name", a.leavingOutFormer)
	t.Run("certificates of a cluster", a.certificates)
	t.Run("authorities of the operator", a.authorities)
	t.Run("recoveries", a.recoveries)
	t.Run("tokens", a.tokens)
	t.Run("identity", a.identity)
	t.Run("status", a.status)
	t.Run("status of users and roles", a.statusOfAccounts)
	t.Run("updates of users and roles", a.accounts)
	t.Run("the operator", a.operator)
}

func clusters(verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdclusters"}, Verbs: verbs}
}

// allow lets a user do something in the namespace, beside what they may do already.
func (a *access) allow(t *testing.T, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: user + "-"}, Rules: rules}
	must(t, a.Create(t.Context(), role))
	must(t, a.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}))
}

func (a *access) as(t *testing.T, user string) client.Client {
	t.Helper()
	own := rest.CopyConfig(a.config)
	own.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	return testenv.Client(t, own)
}

// enforced waits until the API server has learned of roles and policies.
func (a *access) enforced(t *testing.T) {
	t.Helper()
	editor := a.as(t, "editor")
	for _, kind := range []string{"EtcdBackup", "EtcdRestore"} {
		field := sensitiveField{"spec.storage.credentialsSecretRef.name", getSecrets}
		await(t, "the policy of "+kind, func() error {
			err := editor.Create(t.Context(), field.object(kind), client.DryRunAll)
			if denied(err, field.path) {
				return nil
			}
			return fmt.Errorf("got %w", err)
		})
	}
}

// denied reports whether a policy has refused, and named the field.
func denied(err error, field string) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") &&
		strings.Contains(err.Error(), field)
}

// beside wants the policies by themselves to exempt the same operator as those of config/default.
func beside(t *testing.T) {
	exempt := func(folder string) (all []string) {
		for _, manifest := range testenv.Build(t, folder).Resources() {
			if manifest.GetKind() == "ValidatingAdmissionPolicy" {
				policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
				must(t, yaml.UnmarshalStrict([]byte(manifest.MustYaml()), policy))
				all = append(all, policy.Spec.MatchConditions[0].Expression)
			}
		}
		return all
	}
	alone, together := exempt("config/admission"), exempt("config/default")
	if len(alone) != 6 || !slices.Equal(alone, together) {
		t.Errorf("got %q and %q", alone, together)
	}
}

// inLowerCase names an object after a field, of which TLS is another one than tls.
func inLowerCase(path string) string {
	return strings.ToLower(strings.NewReplacer("TLS.", "legacy-tls-", ".", "-").Replace(path))
}

// field is refused of who lacks one of the rights that it takes, and of no one else.
func (a *access) field(t *testing.T, kind string, f sensitiveField) {
	if len(f.rights) == 0 {
		t.Fatalf("%s is in neither list: does it lend rights?", f.path)
	}
	user := inLowerCase(kind + "." + f.path)
	a.allow(t, user, rbacv1.PolicyRule{
		APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"etcdbackups", "etcdrestores", "etcdclusters", "etcdusers", "etcdroles"},
		Verbs: []string{"create"},
	}, rbacv1.PolicyRule{ // what the places take that the objects name
		APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"default"}, Verbs: []string{"impersonate"},
	}, agentOf("c"))
	c := a.as(t, user)
	for _, r := range f.rights {
		await(t, "a refusal for want of "+r.verb+" on "+r.resource, func() error {
			err := c.Create(t.Context(), f.object(kind), client.DryRunAll)
			if denied(err, f.path+": "+user+" may not "+r.verb) && strings.Contains(err.Error(), r.verb+" on ") {
				return nil
			}
			return fmt.Errorf("got %w", err)
		})
		resource, group, _ := strings.Cut(r.resource, ".")
		rule := rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{r.verb}}
		if r.name != "" {
			rule.ResourceNames = []string{r.name}
		}
		a.allow(t, user, rule)
	}
	await(t, "the right to set "+f.path, func() error { return c.Create(t.Context(), f.object(kind), client.DryRunAll) })
}

// creator has no rights but to create EtcdClusters, and needs none for what every cluster has.
func (a *access) creator(t *testing.T) {
	a.allow(t, "creator", clusters("*"))
	c := a.as(t, "creator")
	for _, repository := range []string{"", version.DefaultRepository} {
		cluster := sensitiveField{path: "spec.repository"}.object("EtcdCluster")
		must(t, unstructured.SetNestedField(cluster.Object, repository, "spec", "repository"))
		must(t, unstructured.SetNestedMap(cluster.Object, map[string]any{
			"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "fast", "volumeName": "",
			"resources": map[string]any{"requests": map[string]any{"storage": "8Gi"}},
		}, "spec", "pod", "persistentVolumeClaimSpec"))
		await(t, "the right to create an EtcdCluster from "+repository, func() error {
			return c.Create(t.Context(), cluster, client.DryRunAll)
		})
	}
}

// updates are refused where they take what is named somewhere else, and not where they leave that alone.
func (a *access) updates(t *testing.T) {
	editor := a.as(t, "editor")
	secret := sensitiveField{path: "spec.storage.credentialsSecretRef.name"}
	must(t, a.Create(t.Context(), secret.object("EtcdBackup")))
	must(t, a.Create(t.Context(), sensitiveField{path: "spec.pod.template"}.object("EtcdCluster")))
	for _, c := range []struct {
		kind, patch, denied string
	}{
		{"EtcdBackup", `{"metadata":{"labels":{"a":"b"}}}`, ""},
		{"EtcdBackup", `{"spec":{"suspend":true,"schedule":"@daily","backupPolicy":{"maxBackups":3},"verify":"None"}}`, ""},
		{"EtcdBackup", `{"spec":{"storage":{"endpoint":"https://elsewhere.example.com"}}}`, "spec.storage.credentialsSecretRef.name"},
		{"EtcdBackup", `{"spec":{"storage":{"url":"s3://elsewhere/p"}}}`, "spec.storage.credentialsSecretRef.name"},
		{"EtcdBackup", `{"spec":{"etcdEndpoints":["http://elsewhere:2379"]}}`, "spec.storage.credentialsSecretRef.name"},
		{"EtcdBackup", `{"spec":{"deletionPolicy":"Delete"}}`, "spec.storage.credentialsSecretRef.name"},
		{"EtcdBackup", `{"spec":{"pod":{"labels":{"a":"b"}}}}`, "spec.storage.credentialsSecretRef.name"},
		{"EtcdBackup", `{"spec":{"clientTLSSecret":"theirs"}}`, "spec.storage.credentialsSecretRef.name"},
		{"EtcdCluster", `{"spec":{"size":3,"version":"3.6.16","paused":true,"pod":{"labels":{"a":"b"}}}}`, ""},
		{"EtcdCluster", `{"spec":{"repository":"elsewhere.example.com/etcd"}}`, "spec.pod.template"},
		{"EtcdCluster", `{"spec":{"pod":{"template":{"spec":{"hostPID":true}}}}}`, "spec.pod.template"},
		{"EtcdCluster", `{"spec":{"pod":{"template":null}}}`, ""},
		{"EtcdCluster", `{"spec":{"pod":{"template":null},"repository":"elsewhere.example.com/etcd"}}`, "spec.repository"},
		{"EtcdCluster", `{"spec":{"repository":"quay.io/coreos/etcd","pod":{"template":null}}}`, ""},
		{"EtcdCluster", `{"spec":{"pod":{"persistentVolumeClaimSpec":{"resources":{"requests":{"storage":"1Gi"}},"volumeName":"theirs"}}}}`, "persistentVolumeClaimSpec.volumeName"},
		{"EtcdCluster", `{"spec":{"pod":{"persistentVolumeClaimSpec":{"resources":{"requests":{"storage":"1Gi"}},"storageClassName":"fast"}}}}`, ""},
		{"EtcdCluster", `{"spec":{"pod":{"serviceAccountName":"theirs"}}}`, "spec.pod.serviceAccountName"},
	} {
		u := secret.object(c.kind)
		err := editor.Patch(t.Context(), u, client.RawPatch("application/merge-patch+json", []byte(c.patch)), client.DryRunAll)
		if c.denied == "" && err != nil || c.denied != "" && !denied(err, c.denied) {
			t.Errorf("%s %s: got %v", c.kind, c.patch, err)
		}
		must(t, a.Patch(t.Context(), u, client.RawPatch("application/merge-patch+json", []byte(c.patch)), client.DryRunAll))
	}
}

// tokens of an identity that no one chose go where the spec says: that takes the right to be anyone here.
func (a *access) tokens(t *testing.T) {
	backup := sensitiveField{path: "spec.storage.url"}.object("EtcdBackup")
	storage := map[string]any{"url": "gs://b/p", "endpoint": "https://elsewhere.example.com", "allowTokens": true}
	must(t, unstructured.SetNestedMap(backup.Object, storage, "spec", "storage"))
	backup.SetName("tokens")
	if err := a.as(t, "editor").Create(t.Context(), backup, client.DryRunAll); !denied(err, "spec.storage.allowTokens") {
		t.Errorf("got %v", err)
	}
	must(t, a.Create(t.Context(), backup, client.DryRunAll))
}

// status says what pods are made of.
func (a *access) status(t *testing.T) {
	a.allow(t, "forger", rbacv1.PolicyRule{APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"*"}})
	restore := sensitiveField{path: "spec.storage.credentialsSecretRef.name"}.object("EtcdRestore")
	must(t, a.Create(t.Context(), restore))
	from := map[string]any{"storage": map[string]any{"url": "s3://b/p", "credentialsSecretRef": map[string]any{"name": "theirs"}}}
	must(t, unstructured.SetNestedMap(restore.Object, from, "status", "source"))
	c := a.as(t, "forger")
	await(t, "a refusal", func() error {
		err := c.Status().Update(t.Context(), restore.DeepCopy(), &client.SubResourceUpdateOptions{
			UpdateOptions: client.UpdateOptions{DryRun: []string{metav1.DryRunAll}},
		})
		if denied(err, "status: forger may not create pods") {
			return nil
		}
		return fmt.Errorf("got %w", err)
	})
	must(t, a.Status().Update(t.Context(), restore))
}

// operator creates what was admitted from others, and has none of their rights: to create EtcdClusters least of all.
func (a *access) operator(t *testing.T) {
	own := testenv.Client(t, controllertest.AsOperator(a.config))
	restore := sensitiveField{path: "spec.storage.credentialsSecretRef.name"}.object("EtcdRestore")
	must(t, own.Create(t.Context(), restore, client.DryRunAll))
	cluster := sensitiveField{path: "spec.pod.template"}.object("EtcdCluster")
	if err := own.Create(t.Context(), cluster, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("an EtcdCluster: got %v", err)
	}
}
