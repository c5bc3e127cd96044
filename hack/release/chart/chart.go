// Package chart makes the Helm chart of a release from the manifests that kustomize renders of config, so that the chart and the
// manifests cannot differ, and from config/chart, which has what only a chart needs: its values, and what they change.
package chart

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/hack/release/archive"
)

// Variant is what kustomize renders with something that a value of the chart adds.
type Variant struct {
	// Condition under which it applies, as after "if" in a template. Of several the first one that holds does.
	Condition string
	// Manifests are all of them, not only those that differ.
	Manifests []byte
}

// Chart is what a chart is made from.
type Chart struct {
	// Source is the folder config/chart.
	Source string
	// Version of the chart and of the operator, without a leading v.
	Version string
	// Manifests by default.
	Manifests []byte
	// Variants of the manifests.
	Variants []Variant
}

// Write writes the chart, packed as Helm packs it, to a file. All in it is as old as the time says.
func (c Chart) Write(file string, made time.Time) error {
	entries, err := archive.Folder(c.Source, "etcd-operator")
	if err != nil {
		return fmt.Errorf("read the chart's source: %w", err)
	}
	for i, entry := range entries {
		if entry.Name == "etcd-operator/Chart.yaml" {
			entries[i].Content = stamped(entry.Content, c.Version)
		}
	}
	objects, err := c.merged()
	if err != nil {
		return err
	}
	templates := map[string]*strings.Builder{}
	for _, o := range objects {
		name, text := o.template()
		if templates[name] == nil {
			templates[name] = &strings.Builder{}
		}
		_, _ = templates[name].WriteString(text) // a strings.Builder never fails
	}
	for name, text := range templates {
		entries = append(entries, archive.Entry{Name: "etcd-operator/templates/" + name, Content: []byte(text.String())})
	}
	return archive.Write(file, entries, made)
}

// stamped puts the version in. Nothing but a comment says so of a chart in the source tree.
func stamped(text []byte, version string) []byte {
	text = regexp.MustCompile(`(?m)^#.*\n`).ReplaceAll(text, nil)
	return regexp.MustCompile(`(?m)^((?:appV|v)ersion): .*$`).ReplaceAll(text, []byte("${1}: "+version))
}

// merged gives every object of the manifests and their variants once, in the order in which they appear.
func (c Chart) merged() ([]*object, error) {
	base, err := parse(c.Manifests)
	if err != nil {
		return nil, err
	}
	var order []*object
	found := map[string]*object{}
	for _, d := range base {
		o := &object{document: d, text: d.text}
		order, found[d.key()] = append(order, o), o
	}
	for _, v := range c.Variants {
		documents, err := parse(v.Manifests)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Condition, err)
		}
		for _, d := range documents {
			o := found[d.key()]
			if o == nil {
				o = &object{document: d}
				order, found[d.key()] = append(order, o), o
			}
			if d.text != o.text {
				o.variants = append(o.variants, alternative{v.Condition, d.text})
			}
		}
	}
	return order, nil
}

// document is one object as kustomize renders it, in words of a template.
type document struct {
	kind, namespace, name, text string
}

func (d document) key() string { return strings.Join([]string{d.kind, d.namespace, d.name}, "/") }

// namespace of the manifests, in whose place the chart has that of the release.
const namespace = "etcd-operator-system"

func parse(manifests []byte) ([]document, error) {
	var all []document
	for text := range strings.SplitSeq(string(manifests), "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			return nil, fmt.Errorf("read the manifests: %w", err)
		}
		metadata, _ := object["metadata"].(map[string]any)
		kind, _ := object["kind"].(string)
		name, _ := metadata["name"].(string)
		in, _ := metadata["namespace"].(string)
		if kind == "" || name == "" {
			return nil, errors.New("read the manifests: an object has no kind or no name")
		}
		if kind == "Namespace" {
			continue // Helm creates that of a release itself, with --create-namespace, and would find this one taken
		}
		if slices.Contains(clusterScoped, kind) {
			delete(metadata, "namespace") // kustomize has it of all kinds that it does not know
			in = ""
		}
		if kind == crd {
			annotate(metadata, "helm.sh/resource-policy", "keep")
		}
		written, err := yaml.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("write %s %s: %w", kind, name, err)
		}
		all = append(all, document{kind, in, name, quoted(string(written))})
	}
	return all, nil
}

const crd = "CustomResourceDefinition"

var clusterScoped = []string{
	crd, "ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
}

func annotate(metadata map[string]any, name, value string) {
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	annotations[name] = value
}

// quoted makes a template of what is none: what Prometheus and Grafana fill in later stays, and the release says who manages it where.
func quoted(text string) string {
	text = strings.ReplaceAll(text, "{{", `{{ "{{" }}`)
	text = strings.ReplaceAll(text, "app.kubernetes.io/managed-by: kustomize", "app.kubernetes.io/managed-by: {{ .Release.Service }}")
	return strings.ReplaceAll(text, namespace, "{{ .Release.Namespace }}")
}

// ReadVariant reads a variant from FILE=CONDITION.
func ReadVariant(argument string) (Variant, error) {
	file, condition, found := strings.Cut(argument, "=")
	if !found {
		return Variant{}, fmt.Errorf("%q: want FILE=CONDITION", argument)
	}
	manifests, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return Variant{}, fmt.Errorf("read a variant: %w", err)
	}
	return Variant{Condition: condition, Manifests: manifests}, nil
}
