//go:build lab

package lab_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
	"github.com/etcdpilot/etcd-operator/test/lab"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

const (
	helloBundle  = "ghcr.io/example/hello-bundle:v0.1.0"
	helloCatalog = "ghcr.io/example/hello-catalog:latest"
)

const helloCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: hello.v0.1.0
  annotations:
    alm-examples: '[{"apiVersion": "example.com/v1", "kind": "Hello", "metadata": {"name": "one"}, "spec": {"a": 1}}]'
spec:
  displayName: Hello
  version: 0.1.0
  installModes:
  - {type: OwnNamespace, supported: true}
  - {type: SingleNamespace, supported: true}
  - {type: MultiNamespace, supported: true}
  - {type: AllNamespaces, supported: true}
  customresourcedefinitions:
    owned: [{name: hellos.example.com, kind: Hello, version: v1, displayName: Hello, description: Says hello}]
  install:
    strategy: deployment
    spec:
      deployments:
      - name: hello
        spec:
          replicas: 1
          selector: {matchLabels: {app: hello}}
          template:
            metadata: {labels: {app: hello}}
            spec:
              terminationGracePeriodSeconds: 0
              containers: [{name: main, image: "busybox:1.36", command: [sleep, "3600"]}]
`

const helloCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: hellos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Hello, listKind: HelloList, plural: hellos, singular: hello}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: integer}}}}}
`

const helloAnnotations = `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: hello
  operators.operatorframework.io.bundle.channels.v1: stable
  operators.operatorframework.io.test.mediatype.v1: scorecard+v1
  operators.operatorframework.io.test.config.v1: tests/scorecard/
`

const helloScorecard = `apiVersion: scorecard.operatorframework.io/v1alpha3
kind: Configuration
metadata: {name: config}
stages:
- tests:
  - entrypoint: [scorecard-test, basic-check-spec]
    image: quay.io/operator-framework/scorecard-test:TAG
    labels: {suite: basic, test: basic-check-spec-test}
    storage: {spec: {mountPath: {path: /test-output}}}
storage: {spec: {mountPath: {}}}
`

const helloChannel = `---
schema: olm.package
name: hello
defaultChannel: stable
---
schema: olm.channel
package: hello
name: stable
entries: [{name: hello.v0.1.0}]
`

const helloSubscription = `apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: hello, namespace: olm}
spec: {sourceType: grpc, image: "` + helloCatalog + `"}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: hello, namespace: operators}
spec: {name: hello, channel: stable, source: hello, sourceNamespace: olm}
`

// TestOLM puts OLM into a lab of its own, and installs an operator in both ways that there are. It needs root, and a
// machine without another lab.
func TestOLM(t *testing.T) {
	if owner, err := state.Owner(); err != nil || owner != "" {
		t.Skipf("this machine's lab is in %s (%v)", owner, err)
	}
	t.Setenv(state.Variable, t.TempDir())
	t.Cleanup(func() {
		if err := lab.Down(context.WithoutCancel(t.Context()), testWriter{t}); err != nil {
			t.Error(err)
		}
	})
	running, err := lab.Up(t.Context(), lab.Options{Nodes: 1, Out: testWriter{t}})
	if err != nil {
		t.Fatal(err)
	}
	manager, err := running.OLM().Start(t.Context(), testWriter{t})
	if err != nil {
		t.Fatal(err)
	}
	pods := func() string {
		return kubectl(t, running, "", "get", "pods", "--namespace="+lab.OLMNamespace,
			"--output=jsonpath={.items[*].metadata.uid}")
	}
	before := pods()
	if _, err := running.OLM().Start(t.Context(), testWriter{t}); err != nil {
		t.Fatal(err)
	}
	if after := pods(); after != before {
		t.Errorf("asked for again, OLM has other pods: %s, and had %s", after, before)
	}
	dir := t.TempDir()
	_, tag, _ := strings.Cut(manager.UntarImage, ":")
	for file, content := range map[string]string{
		"bundle/manifests/csv.yaml": helloCSV, "bundle/manifests/crd.yaml": helloCRD,
		"bundle/metadata/annotations.yaml":   helloAnnotations,
		"bundle/tests/scorecard/config.yaml": strings.Replace(helloScorecard, "TAG", tag, 1),
	} {
		writeBelow(t, dir, file, content)
	}
	if err := running.OLM().LoadBundle(t.Context(), helloBundle, filepath.Join(dir, "bundle")); err != nil {
		t.Fatal(err)
	}
	t.Run("catalog", func(t *testing.T) { fromCatalog(t, running, manager, dir) })
	t.Run("run bundle", func(t *testing.T) { runBundle(t, running, manager) })
	t.Run("scorecard", func(t *testing.T) {
		runTool(t, running, manager, "operator-sdk", "scorecard", helloBundle, "--wait-time=3m",
			"--untar-image="+manager.UntarImage, "--storage-image="+manager.StorageImage)
	})
}

func writeBelow(t *testing.T, dir, file, content string) {
	t.Helper()
	path := filepath.Join(dir, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runTool runs a pinned program of this machine, which finds images where the nodes do, and returns what it prints.
func runTool(t *testing.T, running *lab.Lab, manager lab.RunningOLM, name string, args ...string) string {
	t.Helper()
	builder, err := build.New(testWriter{t})
	if err != nil {
		t.Fatal(err)
	}
	program, err := builder.Find(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	// It leaves folders where it is run.
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "KUBECONFIG="+running.Kubeconfig())
	for variable, value := range manager.Env {
		cmd.Env = append(cmd.Env, variable+"="+value)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// fromCatalog installs the operator by a Subscription, as users do.
func fromCatalog(t *testing.T, running *lab.Lab, manager lab.RunningOLM, dir string) {
	rendered := runTool(t, running, manager, "opm", "render", filepath.Join(dir, "bundle"), "--output=yaml",
		"--alpha-image-ref-template="+helloBundle)
	writeBelow(t, dir, "catalog/hello/catalog.yaml", rendered+helloChannel)
	err := running.OLM().LoadCatalog(t.Context(), helloCatalog, filepath.Join(dir, "catalog"), testWriter{t})
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, running, helloSubscription, "apply", "--filename=-")
	installed(t, running, lab.OperatorNamespace)
	kubectl(t, running, helloSubscription, "delete", "--filename=-")
	kubectl(t, running, "", "delete", "csv", "hello.v0.1.0", "--namespace="+lab.OperatorNamespace)
}

func installed(t *testing.T, running *lab.Lab, namespace string) {
	t.Helper()
	kubectl(t, running, "", "wait", "--for=create", "csv/hello.v0.1.0", "--namespace="+namespace, "--timeout=180s")
	kubectl(t, running, "", "wait", "--for=jsonpath={.status.phase}=Succeeded", "csv/hello.v0.1.0",
		"--namespace="+namespace, "--timeout=120s")
}

// runBundle installs the operator without a catalog, as its developers do.
func runBundle(t *testing.T, running *lab.Lab, manager lab.RunningOLM) {
	kubectl(t, running, "", "create", "namespace", "hello")
	runTool(t, running, manager, "operator-sdk", "run", "bundle", helloBundle, "--namespace=hello", "--timeout=5m")
	installed(t, running, "hello")
	runTool(t, running, manager, "operator-sdk", "cleanup", "hello", "--namespace=hello", "--timeout=2m")
}
