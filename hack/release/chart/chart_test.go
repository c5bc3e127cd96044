package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const manifests = `apiVersion: v1
kind: Namespace
metadata:
  name: etcd-operator-system
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: etcdclusters.etcd.database.coreos.com
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  labels:
    app.kubernetes.io/managed-by: kustomize
  name: etcd-operator-manager-role
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: secrets
  namespace: etcd-operator-system
---
apiVersion: v1
kind: Service
metadata:
  name: metrics
  namespace: etcd-operator-system
spec:
  text: '{{ $value }}'
`

// made writes a chart of these manifests and variants, and gives its files.
func made(t *testing.T, variants ...Variant) (files map[string]string, packed []byte) {
	t.Helper()
	source, output := t.TempDir(), filepath.Join(t.TempDir(), "chart.tgz")
	for name, text := range map[string]string{"Chart.yaml": "name: etcd-operator\n# make chart sets both.\nversion: 0.0.0\nappVersion: 0.0.0\n", "values.yaml": "a: 1\n"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := Chart{Source: source, Version: "1.2.3", Manifests: []byte(manifests), Variants: variants}
	if err := c.Write(output, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for reader := tar.NewReader(zipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, packed
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(header.Name, "etcd-operator/")] = string(text)
	}
}

// TestWrite makes templates of manifests.
func TestWrite(t *testing.T) {
	t.Parallel()
	files, packed := made(t)
	if policy := files["templates/admission.yaml"]; strings.Contains(policy, "namespace:") {
		t.Errorf("a policy has a namespace:\n%s", policy)
	}
	for file, wants := range map[string][]string{
		"Chart.yaml":                       {"version: 1.2.3\nappVersion: 1.2.3\n"},
		"values.yaml":                      {"a: 1\n"},
		"templates/crds/etcdclusters.yaml": {"{{- if .Values.crds.enabled }}\n", "helm.sh/resource-policy: keep\n", "{{- end }}\n"},
		"templates/_manifests.tpl":         {`{{- define "etcd-operator.role" }}`, "app.kubernetes.io/managed-by: {{ .Release.Service }}\n"},
		"templates/admission.yaml":         {"---\n", "kind: ValidatingAdmissionPolicy\n"},
		"templates/manifests.yaml":         {"namespace: {{ .Release.Namespace }}\n", `text: '{{ "{{" }} $value }}'`},
	} {
		for _, want := range wants {
			if !strings.Contains(files[file], want) {
				t.Errorf("%s lacks %q:\n%s", file, want, files[file])
			}
		}
		delete(files, file)
	}
	for file, text := range files {
		t.Errorf("there is %s:\n%s", file, text)
	}
	if _, again := made(t); !bytes.Equal(packed, again) {
		t.Error("the same chart is not the same file")
	}
}

// TestVariants chooses between what is rendered by default and otherwise, by the first condition that holds.
func TestVariants(t *testing.T) {
	t.Parallel()
	more := manifests + "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: more\n"
	files, _ := made(t, Variant{"eq 1 1", []byte(strings.Replace(more, "{{ $value }}", "one", 1))}, Variant{"eq 2 2", []byte(strings.Replace(manifests, "{{ $value }}", "two", 1))})
	text := files["templates/manifests.yaml"]
	first, second, last := strings.Index(text, "{{- if eq 1 1 }}"), strings.Index(text, "{{- else if eq 2 2 }}"), strings.Index(text, "{{- else }}")
	if first < 0 || second < first || last < second || strings.Count(text, "{{- end }}") != 1 {
		t.Errorf("the Service is\n%s", text)
	}
	if !strings.Contains(text[first:second], "text: one") || !strings.Contains(text[second:last], "text: two") || !strings.Contains(text[last:], "$value") {
		t.Errorf("the Service is\n%s", text)
	}
	if got := files["templates/more.yaml"]; !strings.HasPrefix(got, "{{- if eq 1 1 }}\n---\n") || !strings.Contains(got, "name: more") {
		t.Errorf("what only one variant has is\n%s", got)
	}
}

// TestNoManifests names what cannot be a chart.
func TestNoManifests(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	for text, want := range map[string]string{"kind: Service\n": "no name", "{": "read the manifests", "metadata: {name: a}": "no kind"} {
		err := Chart{Source: source, Version: "1.2.3", Manifests: []byte(text)}.Write(filepath.Join(t.TempDir(), "chart.tgz"), time.Unix(1e9, 0))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := ReadVariant("file"); err == nil {
		t.Error("a variant without a condition is read")
	}
	if _, err := ReadVariant(filepath.Join(source, "none") + "=true"); err == nil {
		t.Error("a file that is not there is read")
	}
}
