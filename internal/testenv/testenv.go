package testenv

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Start runs an API server until the test ends and returns how to reach it as an administrator. The programs come
// from TEST_ASSET_KUBE_APISERVER and TEST_ASSET_ETCD, which `make test-unit` and `make test-kubernetes` set; without them the test fails.
func Start(t *testing.T) *rest.Config {
	t.Helper()
	for _, variable := range []string{"TEST_ASSET_KUBE_APISERVER", "TEST_ASSET_ETCD"} {
		if os.Getenv(variable) == "" {
			t.Fatalf("%s is not set: run this with `make test-unit`", variable)
		}
	}
	environment := &envtest.Environment{
		CRDInstallOptions:        envtest.CRDInstallOptions{CRDs: CRDs(t)},
		ControlPlaneStartTimeout: time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}
	config, err := environment.Start()
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Errorf("stop the API server: %v", err)
		}
	})
	if err != nil {
		t.Fatalf("start the API server: %v", err)
	}
	return config
}

// Client returns a client without a cache, for the built-in types and this project's.
func Client(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{Scheme: Scheme(t)})
	if err != nil {
		t.Fatalf("make a client: %v", err)
	}
	return c
}

// Scheme returns a scheme with the built-in types and this project's.
func Scheme(t *testing.T) *kruntime.Scheme {
	t.Helper()
	scheme := kruntime.NewScheme()
	for _, add := range []func(*kruntime.Scheme) error{clientgoscheme.AddToScheme, v1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatalf("make a scheme: %v", err)
		}
	}
	return scheme
}

// CRDs returns the CustomResourceDefinitions with their patches.
func CRDs(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, manifest := range Build(t, "config/crd").Resources() {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(manifest.MustYaml()), crd); err != nil {
			t.Fatalf("read %s: %v", manifest.GetName(), err)
		}
		crds = append(crds, crd)
	}
	return crds
}

// Build renders a kustomization. The folder is relative to the top of the source tree.
func Build(t *testing.T, folder string) resmap.ResMap {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), filepath.Join(Root(), folder))
	if err != nil {
		t.Fatalf("build %s: %v", folder, err)
	}
	return built
}

// Root is the top of the source tree, in which every test runs: the first folder upwards that has the operator's go.mod.
func Root() string {
	start, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		module, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil && bytes.HasPrefix(module, []byte("module github.com/etcdpilot/etcd-operator\n")) {
			return folder
		}
		if folder == filepath.Dir(folder) {
			panic(start + " is outside the source tree")
		}
	}
}
