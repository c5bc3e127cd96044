package controllers_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// sensitiveField is one that lends the operator's rights, and the right that whoever sets it must have.
type sensitiveField struct{ path, group, resource, verb string }

// harmless are fields that look sensitive, and why they are not.
var harmless = map[string]string{
	"imagePullSecrets": "the kubelet sends them to the registry that they are for, and the pods never see them",
	"etcdEnv":          "valueFrom is refused (InvalidOption)",
}

// sensitive walks through the types of the API.
func sensitive(path string, of reflect.Type) (found []sensitiveField) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		at := path + "." + name
		if name == "" { // inlined
			at = path
		}
		_, skipped := harmless[name]
		lower := strings.ToLower(name)
		switch {
		case skipped:
		case field.Type.Kind() == reflect.String && strings.Contains(lower, "secret"):
			found = append(found, sensitiveField{at, "", "secrets", "get"})
		case field.Type.Kind() == reflect.String && strings.Contains(lower, "serviceaccount"):
			found = append(found, sensitiveField{at, "", "serviceaccounts", "impersonate"})
		case field.Type.Kind() != reflect.Bool && strings.Contains(lower, "secret"):
			found = append(found, sensitiveField{path: at + ": a kind of reference that this test does not know"})
		case name == "template", field.Type.Kind() == reflect.String && lower == "persistentvolumeclaim":
			found = append(found, sensitiveField{at, "", "pods", "create"})
		case strings.HasPrefix(field.Type.String(), "v1beta2.") || strings.HasPrefix(field.Type.String(), "*v1beta2."):
			found = append(found, sensitive(at, field.Type)...)
		}
	}
	return found
}

// object sets the field and what the schema wants beside it.
func (f sensitiveField) object(kind string) *unstructured.Unstructured {
	spec := map[string]map[string]any{
		"EtcdBackup":  {"spec.storage.url": "s3://b/p", "spec.etcdEndpoints": []any{"http://e:2379"}},
		"EtcdRestore": {"spec.storage.url": "s3://b/p", "spec.etcdCluster.name": "c"},
		"EtcdCluster": {"spec.size": int64(1)},
	}[kind]
	fields := maps.Clone(spec)
	if strings.HasPrefix(f.path, "spec.restoreFrom.") {
		fields["spec.restoreFrom.storage.url"] = "s3://b/p"
	}
	parent := f.path[:strings.LastIndex(f.path, ".")]
	if slices.Contains([]string{"s3", "abs", "gcs", "oss"}, parent[strings.LastIndex(parent, ".")+1:]) {
		fields[parent+".path"] = "b/k"
	}
	fields[f.path] = "theirs"
	if storage, is := strings.CutSuffix(f.path, ".persistentVolumeClaim"); is {
		fields[storage+".url"] = "file:///p"
	}
	if strings.HasSuffix(f.path, ".template") {
		fields[f.path] = map[string]any{"spec": map[string]any{"hostNetwork": true}}
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind))
	u.SetNamespace(namespace)
	u.SetGenerateName("a-")
	if kind == "EtcdCluster" || kind == "EtcdBackup" {
		u.SetGenerateName("")
		u.SetName("one")
	}
	for path, value := range fields {
		if err := unstructured.SetNestedField(u.Object, value, strings.Split(path, ".")...); err != nil {
			panic(err) // the table is wrong
		}
	}
	return u
}
