package olm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// legacyKinds are coreos/etcd-operator's, by their plural.
var legacyKinds = map[string]string{"etcdclusters": "EtcdCluster", "etcdbackups": "EtcdBackup", "etcdrestores": "EtcdRestore"}

// TestLegacyObjects installs the operator where coreos/etcd-operator has been, with its CRDs and its objects in
// place. One object that no present CRD allows stops OLM with a clear message, and nothing is lost; once it is
// mended, all are adopted as they are.
func TestLegacyObjects(t *testing.T) {
	s := begin(t, "legacy")
	const namespace = "olm-legacy-objects"
	s.newNamespace(namespace)
	s.legacyCRDs()
	stored := s.legacyObjects(namespace)
	tooLarge := legacyCluster(namespace, "too-large", 12)
	must(t, s.Create(t.Context(), tooLarge))
	living := legacyCluster(namespace, "living", 3)
	must(t, s.Create(t.Context(), living))
	ashes := legacyCluster(namespace, "ashes", 3)
	ashes.Object["status"] = s.legacyStatus()
	must(t, s.Create(t.Context(), ashes))

	s.catalog("ours", ours)
	s.group()
	s.subscribe(subscribed, "ours", v1alpha1.ApprovalAutomatic)
	failed := s.plan(this, func(p *v1alpha1.InstallPlan) bool { return p.Status.Phase == v1alpha1.InstallPlanPhaseFailed })
	for _, says := range []string{"etcdclusters.etcd.database.coreos.com", namespace + "/too-large", "spec.size"} {
		if !strings.Contains(failed.Status.Message, says) {
			t.Errorf("OLM stops without saying %q: %s", says, failed.Status.Message)
		}
	}
	s.kept(append(stored, tooLarge, living))

	must(t, unstructured.SetNestedField(tooLarge.Object, int64(1), "spec", "size"))
	must(t, s.Update(t.Context(), tooLarge))
	s.uninstall(this)
	must(t, client.IgnoreNotFound(s.Delete(t.Context(), failed))) // it may have gone with the Subscription
	s.subscribeAgain(this, "ours")
	s.kept(append(stored, tooLarge, living))
	adopted := &cluster{Cluster: &harness.Cluster{Env: env, Namespace: namespace, Name: "living"}, s: s}
	adopted.settled()
	adopted.puts("key", 3)
	paused := &harness.Cluster{Env: env, Namespace: namespace, Name: "everything"}
	must(t, paused.Says(t.Context(), v1beta2.ConditionProgressing, v1beta2.ReasonPaused, limit))
	lost := &harness.Cluster{Env: env, Namespace: namespace, Name: "ashes"} // its members are gone: it must not start empty
	must(t, lost.Says(t.Context(), v1beta2.ConditionProgressing, v1beta2.ReasonRanBefore, limit))
	s.kept(append(stored, tooLarge, living))
}

// legacyCRDs replaces our CRDs by the old ones: their schema takes anything.
func (s *story) legacyCRDs() {
	s.t.Helper()
	anything := true
	for plural, kind := range legacyKinds {
		crd := &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + "." + v1beta2.GroupVersion.Group},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: v1beta2.GroupVersion.Group, Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{
					Plural: plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List",
				},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: v1beta2.GroupVersion.Version, Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
						Type: "object", XPreserveUnknownFields: &anything,
					}},
				}},
			},
		}
		must(s.t, client.IgnoreNotFound(s.Delete(s.t.Context(), crd.DeepCopy())))
		must(s.t, harness.Await(s.t.Context(), crd.Name+" as it was", limit, func(ctx context.Context) (string, bool) {
			err := s.Create(ctx, crd.DeepCopy()) // refused while the other one goes
			return fmt.Sprint(err), err == nil
		}))
		must(s.t, env.Run(s.t.Context(), "wait", "--for=condition=Established", "crd/"+crd.Name))
	}
}

// legacyObjects stores what people have from coreos/etcd-operator: each field that it knew, and its status.
func (s *story) legacyObjects(namespace string) []*unstructured.Unstructured {
	s.t.Helper()
	objects := s.manifests("legacy_cluster.yaml")
	objects[0].Object["status"] = s.legacyStatus()
	objects = append(objects, s.manifests("legacy_backups.yaml")...)
	for _, object := range objects {
		object.SetNamespace(namespace)
		// The CRD may be served a moment after it is established.
		must(s.t, harness.Await(s.t.Context(), object.GetName()+" is stored", limit, func(ctx context.Context) (string, bool) {
			err := s.Create(ctx, object)
			return fmt.Sprint(err), err == nil || apierrors.IsAlreadyExists(err)
		}))
	}
	return objects
}

// legacyStatus is that of a cluster that coreos/etcd-operator has run.
func (s *story) legacyStatus() map[string]any {
	s.t.Helper()
	return s.manifests("legacy_status.yaml")[0].Object
}

func (s *story) manifests(file string) []*unstructured.Unstructured {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(env.Root, "api", "v1beta2", "testdata", file))
	must(s.t, err)
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		must(s.t, err)
		objects = append(objects, object)
	}
}

// legacyCluster is one as an old manifest has it.
func legacyCluster(namespace, name string, size int64) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"spec":   map[string]any{"size": size, "version": "3.5.35", "pod": map[string]any{"ClusterDomain": ""}},
		"status": map[string]any{"phase": "", "size": int64(0), "currentVersion": "", "targetVersion": ""},
	}}
	object.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("EtcdCluster"))
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// kept checks that objects are the same ones still, and that nothing is missing from their specs.
func (s *story) kept(objects []*unstructured.Unstructured) {
	s.t.Helper()
	for _, object := range objects {
		now := &unstructured.Unstructured{}
		now.SetGroupVersionKind(object.GroupVersionKind())
		must(s.t, s.Get(s.t.Context(), client.ObjectKeyFromObject(object), now))
		if now.GetUID() != object.GetUID() || !holds(now.Object["spec"], object.Object["spec"]) {
			s.t.Errorf("%s %s was\n%v\nand is\n%v", object.GetKind(), object.GetName(), object.Object["spec"], now.Object["spec"])
		}
	}
}

// holds reports whether all that was there is there now. CRDs may add defaults.
func holds(now, was any) bool {
	switch was := was.(type) {
	case map[string]any:
		fields, ok := now.(map[string]any)
		for name, value := range was {
			ok = ok && holds(fields[name], value)
		}
		return ok
	case []any:
		items, ok := now.([]any)
		ok = ok && len(items) == len(was)
		for i := range was {
			ok = ok && holds(items[i], was[i])
		}
		return ok
	}
	return reflect.DeepEqual(now, was)
}
