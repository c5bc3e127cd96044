package packaging

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// owners are who brings the kinds of a group, where this project does not have their types.
var owners = map[string]string{"cert-manager.io": "cert-manager", "monitoring.coreos.com": "Prometheus Operator"}

// capitals are what readers are to replace, and what a test puts in its place.
var capitals = map[string]string{
	"NAMESPACE": "default", "NAME": "name", "NODE": "node", "BACKUP": "backup", "VERSION": "3.6.16", "SIZE": "5", "SECRET": "secret", "FEATURE": "defragment",
	"BUCKET": "bucket", "FOLDER": "folder", "ENDPOINT": "https://minio.storage.svc:9000", "STEP": "step", "HASH": "0123456789ab",
}

// recipient is what a public key of age looks like, but for its last character.
const recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8"

var capital = regexp.MustCompile(`age1…|\b(NAMESPACE|NAME|NODE|BACKUP|VERSION|SIZE|SECRET|FEATURE|BUCKET|FOLDER|ENDPOINT|STEP|HASH)\b`)

// filled is a text as a reader may fill it in: each public key is another one.
func filled(text string) string {
	keys := 0
	return capital.ReplaceAllStringFunc(text, func(word string) string {
		if word != "age1…" {
			return capitals[word]
		}
		keys++
		return recipient + "acdefg"[keys:keys+1]
	})
}

// manifests has an API server judge every object, and every part of one that has nothing but a spec.
func (p *page) manifests(text string) {
	p.Helper()
	if slices.ContainsFunc(compared, p.is) {
		return
	}
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(filled(text))), 4096); ; {
		object := &unstructured.Unstructured{}
		var fields map[string]any
		if err := decoder.Decode(&fields); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			p.Errorf("this is no YAML: %v", err)
			return
		}
		object.Object = fields
		spec, _ := fields["spec"].(map[string]any)
		switch {
		case object.GetKind() != "" && object.GetAPIVersion() != "":
			p.object(object)
		case len(fields) == 1 && spec != nil:
			p.part(spec)
		default:
			p.unknown(fmt.Sprintf("what has %q", slices.Sorted(maps.Keys(fields))))
		}
	}
}

// object has the API server judge one, or its type if the API server does not know it.
func (p *page) object(object *unstructured.Unstructured) {
	p.Helper()
	kind := object.GroupVersionKind()
	if who, found := owners[kind.Group]; found {
		p.needs(who, kind.String())
		return
	}
	if _, served := p.kinds[strings.ToLower(kind.Kind)]; served && elsewhere[strings.ToLower(kind.Kind)].Group != kind.Group {
		object.SetName("")
		object.SetGenerateName("block-")
		if namespaced, err := p.client.IsObjectNamespaced(object); err != nil {
			p.Fatal(err)
		} else if namespaced {
			object.SetNamespace("default")
		}
		if err := p.client.Create(p.Context(), object, client.DryRunAll); err != nil {
			p.Errorf("an API server refuses this %s: %v", kind.Kind, err)
		}
		return
	}
	p.typed(object)
}

// typed wants every field to be one of the object's type.
func (p *page) typed(object *unstructured.Unstructured) {
	p.Helper()
	into, err := p.scheme.New(object.GroupVersionKind())
	if err != nil {
		p.Errorf("no test knows this: %v", err)
		return
	}
	text, err := json.Marshal(object.Object)
	if err != nil {
		p.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		p.Errorf("this is no %s: %v", object.GetKind(), err)
	}
}

// part wants an API server to take a part of a spec in one of this API's kinds, one that the document names.
func (p *page) part(spec map[string]any) {
	p.Helper()
	var refused []string
	for _, kind := range slices.Sorted(maps.Keys(smallest)) {
		whole := maps.Clone(spec)
		if kind == "EtcdCluster" && whole["size"] == nil {
			whole["size"] = int64(3)
		}
		err := p.client.Create(p.Context(), of(kind, whole), client.DryRunAll)
		if err == nil && strings.Contains(p.text, kind) {
			return
		}
		refused = append(refused, fmt.Sprintf("%s: %v", kind, err))
	}
	p.Errorf("an API server takes this spec in no kind that the document names:\n%s", strings.Join(refused, "\n"))
}
