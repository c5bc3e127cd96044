package controllers_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// sensitiveField is one that lends the operator's rights, and the rights that whoever sets it must have. Without any it is one
// that this test does not know.
type sensitiveField struct {
	path   string
	rights []right
}

// right is one to the object of that name, or if that is empty to all.
type right struct{ verb, resource, name string }

var (
	getSecrets         = []right{{"get", "secrets", "theirs"}}
	getAgent           = []right{{"get", "secrets", certificates.AgentName("theirs")}}
	getOwnAgent        = []right{{"get", "secrets", certificates.AgentName("one")}}
	getConfigMaps      = []right{{"get", "configmaps", "theirs"}}
	impersonate        = []right{{"impersonate", "serviceaccounts", "theirs"}}
	createPods         = []right{{"create", "pods", ""}}
	createCertificates = []right{{"create", "certificates.cert-manager.io", ""}}
	createVolumes      = []right{{"create", "persistentvolumeclaims", ""}, {"create", "pods", ""}}
)

// lending are fields that lend rights, whatever they are of.
var lending = map[string][]right{
	"issuerRef": createCertificates,
	"template":  createPods, "repository": createPods,
	// Of a PersistentVolumeClaim's spec: the data of another claim, of a snapshot or of a volume that is there.
	"dataSource": createVolumes, "dataSourceRef": createVolumes, "volumeName": createVolumes, "selector": createVolumes,
}

// harmless are fields that look sensitive, or are Kubernetes' own, and why they are not.
var harmless = map[string]string{
	"imagePullSecrets":          "the kubelet sends them to the registry that they are for, and the pods never see them",
	"etcdEnv":                   "valueFrom is refused (InvalidOption)",
	"affinity":                  "where pods run",
	"topologySpreadConstraints": "where pods run",
	"tolerations":               "where pods run",
	"resources":                 "how much they take; claims of devices are refused without those of the pod",
	"securityContext":           "the namespace's Pod Security Standard judges it, and the image does no more with it",
	"accessModes":               "of a volume of one's own",
	"storageClassName":          "of a volume of one's own",
	"volumeMode":                "of a volume of one's own",
	"volumeAttributesClassName": "of a volume of one's own",
	"encryptionSecret":          "a former name, which is refused, and of which no Secret is read",
	"secret":                    "a former name, which is refused, and of which no Secret is read",
	"caSecret":                  "a former name, which is refused, and of which no Secret is read",
}

// pods are where the types of Kubernetes are from that pods are made of, or of which anything can be.
var pods = []string{reflect.TypeFor[corev1.Pod]().PkgPath(), reflect.TypeFor[runtime.RawExtension]().PkgPath()}

// sensitive walks through the types of the API, and of volumes. What else pods are made of must be in one of the lists.
func sensitive(path string, of reflect.Type) (found []sensitiveField) {
	of = elem(of)
	volume := of.Name() == "PersistentVolumeClaimSpec"
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		at := path + "." + name
		if name == "" { // inlined
			at = path
		}
		if _, known := harmless[name]; known {
			continue
		}
		kind, own := elem(field.Type), elem(field.Type).PkgPath() == reflect.TypeFor[v1beta2.Storage]().PkgPath()
		rights, lends := rightsTo(name, field.Type)
		switch {
		case field.Type == reflect.TypeFor[v1beta2.SecretRef](), kind == reflect.TypeFor[v1beta2.SecretKeyRef]():
			found = append(found, sensitiveField{at + ".name", getSecrets})
		case kind == reflect.TypeFor[v1beta2.EtcdClusterRef]():
			found = append(found, sensitiveField{at + ".name", getAgent})
		case kind == reflect.TypeFor[v1beta2.EtcdBackupRef]() && strings.HasPrefix(at, "spec.recovery."): // those of EtcdRestores read only
			found = append(found, sensitiveField{at + ".name", getOwnAgent})
		case field.Type == reflect.TypeFor[v1beta2.CABundleRef]():
			found = append(found, sensitiveField{at + ".name", getSecrets}, sensitiveField{at + ".name", getConfigMaps})
		case lends:
			found = append(found, sensitiveField{at, rights})
		case kind.Kind() == reflect.Struct && (own || kind.Name() == "PersistentVolumeClaimSpec"):
			found = append(found, sensitive(at, kind)...)
		case kind.Kind() == reflect.Struct && slices.Contains(pods, kind.PkgPath()), volume:
			found = append(found, sensitiveField{path: at})
		}
	}
	return found
}

func elem(of reflect.Type) reflect.Type {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	return of
}

// rightsTo are those to set a field that lends any, none for a kind of reference that this test does not know.
func rightsTo(name string, of reflect.Type) (rights []right, lends bool) {
	text, lower := of.Kind() == reflect.String, strings.ToLower(name)
	switch {
	case text && strings.Contains(lower, "secret"):
		return getSecrets, true
	case text && strings.Contains(lower, "serviceaccount"):
		return impersonate, true
	case text && lower == "persistentvolumeclaim":
		return createPods, true
	case of.Kind() != reflect.Bool && strings.Contains(lower, "secret"):
		return nil, true
	}
	rights, lends = lending[name]
	return rights, lends
}

// values are those of fields that take more than a name.
var values = map[string]any{
	"issuerRef":     map[string]any{"name": "theirs"},
	"template":      map[string]any{"spec": map[string]any{"hostNetwork": true}},
	"dataSource":    map[string]any{"kind": "PersistentVolumeClaim", "name": "theirs"},
	"dataSourceRef": map[string]any{"kind": "PersistentVolumeClaim", "name": "theirs"},
	"selector":      map[string]any{"matchLabels": map[string]any{"whose": "theirs"}},
}

// object sets the field and what the schema wants beside it.
func (f sensitiveField) object(kind string) *unstructured.Unstructured {
	spec := map[string]map[string]any{
		"EtcdBackup":  {"spec.storage.url": "s3://b/p", "spec.etcdEndpoints": []any{"http://e:2379"}},
		"EtcdRestore": {"spec.storage.url": "s3://b/p", "spec.etcdCluster.name": "c"},
		"EtcdCluster": {"spec.size": int64(1)},
		"EtcdUser":    {"spec.etcdCluster.name": "c"},
		"EtcdRole":    {"spec.etcdCluster.name": "c"},
	}[kind]
	fields := maps.Clone(spec)
	if f.path == "spec.etcdCluster.name" {
		delete(fields, "spec.etcdEndpoints") // an EtcdBackup has either
	}
	if strings.HasPrefix(f.path, "spec.restoreFrom.") {
		fields["spec.restoreFrom.storage.url"] = "s3://b/p"
	}
	parent, name := f.path[:strings.LastIndex(f.path, ".")], f.path[strings.LastIndex(f.path, ".")+1:]
	if slices.Contains([]string{"s3", "abs", "gcs", "oss"}, parent[strings.LastIndex(parent, ".")+1:]) {
		fields[parent+".path"] = "b/k"
	}
	if claim := parent[strings.LastIndex(parent, ".")+1:]; claim == "scratch" || claim == "persistentVolumeClaimSpec" {
		fields[parent+".resources.requests.storage"] = "1Gi"
	}
	if parent == "spec.auth.rootPasswordSecretRef" {
		fields["spec.auth.enabled"] = false
	}
	if kind == "EtcdUser" && f.path == "spec.etcdCluster.name" {
		fields["spec.clientCertificate"] = map[string]any{}
	}
	fields[f.path] = "theirs"
	if reflect.DeepEqual(f.rights, getConfigMaps) {
		fields[parent+".kind"] = "ConfigMap"
	}
	if value, is := values[name]; is {
		fields[f.path] = value
	}
	if storage, is := strings.CutSuffix(f.path, ".persistentVolumeClaim"); is {
		fields[storage+".url"] = "file:///p"
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
