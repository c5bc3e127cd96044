package v1beta2_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestAPI asks a real API server what it accepts. One server serves all: it takes seconds to start.
func TestAPI(t *testing.T) {
	config := testenv.Start(t)
	c := testenv.Client(t, config)
	for name, test := range map[string]func(*testing.T, client.Client){
		"accepts":            testAccepts,
		"create":             testCreate,
		"update":             testUpdate,
		"legacy":             testLegacyObjects,
		"legacy status":      testLegacyStatus,
		"legacy backup":      testLegacyBackupStatus,
		"backup":             testBackup,
		"restore source":     testRestoreSource,
		"recovery":           testRecovery,
		"users and roles":    testUsers,
		"storage":            testStorage,
		"scale":              testScale,
		"unknown is dropped": testStrict,
		"two who apply":      testApply,
		"columns":            func(t *testing.T, c client.Client) { testColumns(t, config, c) },
	} {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
	t.Run("a former status", func(t *testing.T) { testFormerStatus(t, config, c) })
	t.Run("stored objects", func(t *testing.T) { testStored(t, config, c) }) // it takes the rules away for some time
}

// cluster returns a small valid EtcdCluster with some fields set; a path is separated by dots.
func cluster(name string, fields map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "etcd.database.coreos.com/v1beta2", "kind": "EtcdCluster",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     map[string]any{"size": int64(3)},
	}}
	set(u, fields)
	return u
}

func set(u *unstructured.Unstructured, fields map[string]any) {
	for path, value := range fields {
		parts := strings.Split(path, ".")
		if value == nil {
			unstructured.RemoveNestedField(u.Object, parts...)
			continue
		}
		if err := unstructured.SetNestedField(u.Object, value, parts...); err != nil {
			panic(err) // the table is wrong
		}
	}
}

// check wants no error, or an invalid object with a message that holds want.
func check(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Fatalf("refused: %v", err)
	case want != "" && err == nil:
		t.Fatalf("accepted, want %q", want)
	case want != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want)):
		t.Fatalf("refused with %v, want %q", err, want)
	}
}

// manifests reads the objects of a file.
func manifests(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(file) // #nosec G304 -- a file of the source tree
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	var out []*unstructured.Unstructured
	for {
		u := &unstructured.Unstructured{}
		if err := decoder.Decode(u); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if u.GetNamespace() == "" {
			u.SetNamespace("default")
		}
		out = append(out, u)
	}
}

// testAccepts creates what ships as an example.
func testAccepts(t *testing.T, c client.Client) {
	files, err := filepath.Glob(filepath.Join(testenv.Root(), "config/samples/etcd*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		for _, u := range manifests(t, file) {
			check(t, client.WithFieldValidation(c, "Strict").Create(t.Context(), u, client.DryRunAll), "")
		}
	}
}
