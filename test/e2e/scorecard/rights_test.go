package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestRights does all that the tests ask Kubernetes for, with the role that they are given and with none, where the admission
// policies want rights to what an object names.
func TestRights(t *testing.T) {
	config := testenv.Start(t)
	admin := testenv.Client(t, config)
	for _, folder := range []string{"config/scorecard/rbac", "config/admission"} {
		for _, manifest := range testenv.Build(t, folder).Resources() {
			if err := admin.Create(t.Context(), object(t, manifest)); err != nil {
				t.Fatal(err)
			}
		}
	}
	awaitPolicies(t, config, admin)
	permitted := trialAs(t, config, "etcd-operator-scorecard")
	if err := permitted.run(t.Context(), everything(t, permitted)); err != nil {
		t.Errorf("the role in config/scorecard/rbac does not do: %v", err)
	}
	clusters, claims := &v1beta2.EtcdClusterList{}, &corev1.PersistentVolumeClaimList{}
	for _, list := range []client.ObjectList{clusters, claims} {
		if err := admin.List(t.Context(), list, client.InNamespace("default")); err != nil {
			t.Fatal(err)
		}
	}
	// No one is here who would let go of a claim that is being deleted.
	if len(clusters.Items) > 0 || slices.ContainsFunc(claims.Items, func(c corev1.PersistentVolumeClaim) bool {
		return c.DeletionTimestamp == nil
	}) {
		t.Errorf("the test has left %d clusters and %d claims", len(clusters.Items), len(claims.Items))
	}

	refused := trialAs(t, config, "default")
	err := refused.run(t.Context(), everything(t, refused))
	if err == nil {
		t.Fatal("an account without any role may do all that")
	}
	if said := strings.Join(suggestions(err), " "); !strings.Contains(said, "config/scorecard/rbac") {
		t.Errorf("for %v it suggests %q", err, said)
	}
}

// awaitPolicies returns once the API server refuses whoever may create the objects, and may not do what their pods would.
func awaitPolicies(t *testing.T, config *rest.Config, admin client.Client) {
	t.Helper()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "creator"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"create"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "creator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "creator"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "creator"}},
	}
	if err := errors.Join(admin.Create(t.Context(), role), admin.Create(t.Context(), binding)); err != nil {
		t.Fatal(err)
	}
	creator := trialAs(t, config, "creator")
	_, volume := harness.BackupVolume("default", "any")
	cluster := &v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{
		Size: 1, Pod: &v1beta2.PodPolicy{Template: &runtime.RawExtension{Raw: []byte("{}")}},
	}}
	restore := restoreOf("any")
	restore.Spec.RestoreSource = v1beta2.RestoreSource{Storage: volume}
	for _, made := range []client.Object{cluster, backupOf("any", volume), restore} {
		made.SetNamespace("default")
		made.SetName("any")
		what := fmt.Sprintf("a policy refuses %T", made)
		err := harness.Await(t.Context(), what, time.Minute, func(ctx context.Context) (string, bool) {
			err := creator.Create(ctx, made, client.DryRunAll)
			return fmt.Sprint(err), err != nil && strings.Contains(err.Error(), "ValidatingAdmissionPolicy")
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// everything creates, reads, changes and lists what the tests do.
func everything(t *testing.T, own *trial) func(context.Context, *trial) error {
	return func(ctx context.Context, _ *trial) error {
		for _, manifest := range testenv.Build(t, "config/samples").Resources() {
			if err := own.accepted(ctx, object(t, manifest)); err != nil {
				return err
			}
		}
		claim, storage := harness.BackupVolume(own.namespace, own.name)
		cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: own.name}, Spec: v1beta2.EtcdClusterSpec{Size: 1}}
		for _, made := range []client.Object{claim, cluster, backupOf(own.name, storage), restoreOf(own.name)} {
			if err := own.add(ctx, made); err != nil {
				return err
			}
			if made == claim {
				continue // no one looks at it again
			}
			if err := own.Get(ctx, client.ObjectKeyFromObject(made), made); err != nil {
				return err
			}
		}
		c := &harness.Cluster{Env: own.Env, Namespace: own.namespace, Name: own.name}
		if err := c.Edit(ctx, func(s *v1beta2.EtcdClusterSpec) { s.Size = 3 }); err != nil {
			return err
		}
		_, err := c.Pods(ctx)
		return err
	}
}

// trialAs is a trial as a service account runs it.
func trialAs(t *testing.T, config *rest.Config, account string) *trial {
	t.Helper()
	own := rest.CopyConfig(config)
	own.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:default:" + account,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"},
	}
	return &trial{Env: &harness.Env{Client: testenv.Client(t, own)}, namespace: "default", name: "scorecard-as-" + account}
}

func object(t *testing.T, manifest *resource.Resource) *unstructured.Unstructured {
	t.Helper()
	made := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest.MustYaml()), &made.Object); err != nil {
		t.Fatal(err)
	}
	return made
}
