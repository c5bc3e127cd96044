package packaging

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/jsonpath"
)

// fields wants what is printed of an object of this API to be in its schema.
func (p *page) fields(kind schema.GroupVersionKind, outputs []string) {
	p.Helper()
	top := p.schemas[kind.Kind]
	if !ours(kind) || top == nil {
		return
	}
	for _, output := range outputs {
		how, what, _ := strings.Cut(output, "=")
		switch how {
		case "jsonpath":
			p.jsonpath(what, top)
		case "custom-columns":
			for column := range strings.SplitSeq(what, ",") {
				_, field, _ := strings.Cut(column, ":")
				p.jsonpath("{"+field+"}", top)
			}
		}
	}
}

// jsonpath follows each part of a template, within the items of the range that it is in.
func (p *page) jsonpath(template string, top *apiextensionsv1.JSONSchemaProps) {
	p.Helper()
	if !strings.Contains(template, "{") {
		template = "{" + template + "}"
	}
	parsed, err := jsonpath.Parse("", template)
	if err != nil {
		p.Errorf("%s is no JSONPath: %v", template, err)
		return
	}
	within := []*apiextensionsv1.JSONSchemaProps{top}
	for _, node := range parsed.Root.Nodes {
		list, ok := node.(*jsonpath.ListNode)
		if !ok || len(list.Nodes) == 0 {
			continue
		}
		identifier, _ := list.Nodes[0].(*jsonpath.IdentifierNode)
		switch {
		case identifier == nil:
			p.follow(list.Nodes, within[len(within)-1])
		case identifier.Name == "range":
			within = append(within, p.follow(list.Nodes[1:], within[len(within)-1]))
		case identifier.Name == "end":
			within = within[:len(within)-1]
		}
	}
}

// follow gives the schema of what a path leads to, and nil where there is none.
func (p *page) follow(nodes []jsonpath.Node, at *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	p.Helper()
	for _, node := range nodes {
		if at == nil {
			return nil
		}
		switch n := node.(type) {
		case *jsonpath.ListNode:
			at = p.follow(n.Nodes, at)
		case *jsonpath.FieldNode:
			at = p.field(n.Value, at)
		case *jsonpath.ArrayNode:
			at = items(at)
		case *jsonpath.FilterNode:
			if at = items(at); at != nil {
				p.filter(n, at)
			}
		case *jsonpath.TextNode:
			return nil
		default:
			p.Errorf("a JSONPath has %s, which this test does not know", n)
		}
	}
	return at
}

func items(of *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if of.Items == nil {
		return nil
	}
	return of.Items.Schema
}

// field is one of an object. A schema says nothing of what is in metadata, or in an object of Kubernetes.
func (p *page) field(name string, at *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	p.Helper()
	if next, found := at.Properties[name]; found {
		return &next
	}
	switch {
	case at.AdditionalProperties != nil:
		return at.AdditionalProperties.Schema
	case len(at.Properties) > 0 || at.Type != "object":
		p.Errorf("there is no field %s", name)
	}
	return nil
}

// filter wants its field to be there, and a condition's type to be one.
func (p *page) filter(n *jsonpath.FilterNode, at *apiextensionsv1.JSONSchemaProps) {
	p.Helper()
	p.follow(n.Left.Nodes, at)
	_, reason := at.Properties["reason"]
	for _, node := range n.Right.Nodes {
		if list, ok := node.(*jsonpath.ListNode); ok && len(list.Nodes) == 1 {
			node = list.Nodes[0]
		}
		if text, ok := node.(*jsonpath.TextNode); ok && reason {
			p.condition(text.Text)
		}
	}
}

// snippet is what the Go in a document is a part of, if it is no part of the sources.
const snippet = `package snippet

import (
	IMPORTS
	clientv3 "go.etcd.io/etcd/client/v3"
)

func connect() (*clientv3.Client, error) {
	BLOCK
	return client, err
}
`

// imported are the packages that a snippet may use besides.
var imported = []string{"crypto/tls", "crypto/x509", "os", "strings", "time", "google.golang.org/grpc"}

// inSnippet is the file with the block in it. It imports what the block uses.
func inSnippet(block string) string {
	var used []string
	for _, name := range imported {
		if strings.Contains(block, path.Base(name)+".") {
			used = append(used, strconv.Quote(name))
		}
	}
	return strings.NewReplacer("IMPORTS", strings.Join(used, "\n\t"), "BLOCK", block).Replace(snippet)
}

// source wants Go to be a part of the sources, word for word, or to be compiled.
func (p *page) source() {
	p.Helper()
	shown := spaced(p.block.Text)
	if slices.ContainsFunc(append(p.tests, p.sources), func(text string) bool { return strings.Contains(spaced(text), shown) }) {
		return
	}
	dir := p.TempDir()
	file, overlay := filepath.Join(dir, "snippet.go"), filepath.Join(dir, "overlay.json")
	here, err := filepath.Abs("snippet/snippet.go")
	if err != nil {
		p.Fatal(err)
	}
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{here: file}})
	if err != nil {
		p.Fatal(err)
	}
	for name, text := range map[string]string{file: inSnippet(p.block.Text), overlay: string(replaced)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			p.Fatal(err)
		}
	}
	if output, err := exec.CommandContext(p.Context(), "go", "build", "-overlay", overlay, "./snippet").CombinedOutput(); err != nil {
		p.Errorf("this Go is in no source, and is not compiled: %v\n%s", err, output)
	}
}

// spaced is a text with one space where it has several: comments and values may stand in columns.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

var metric = regexp.MustCompile(`\b([a-z]\w+)\{`)

// query wants the metrics that are asked for to be among those that alerts and dashboards look at.
func (p *page) query() {
	p.Helper()
	asked := metric.FindAllStringSubmatch(p.block.Text, -1)
	if len(asked) == 0 {
		p.Error("this asks for no metric")
	}
	for _, m := range asked {
		if !strings.Contains(p.sources, m[1]) {
			p.Errorf("neither an alert nor a dashboard has %s", m[1])
		}
	}
}
