package packaging

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/internal/version"
	"github.com/etcdpilot/etcd-operator/test/documents"
)

// TestReasonLinks wants kubectl etcd to lead from each reason of the API to what docs/reasons.md says of it.
func TestReasonLinks(t *testing.T) {
	const document = "docs/reasons.md"
	anchors := documents.Anchors(texts(t)[document])
	declared := reasonsOfTheAPI(t)
	if len(declared) < 100 {
		t.Fatalf("found only %v", declared)
	}
	for _, reason := range declared {
		address, anchor, _ := strings.Cut(reasons.Link(reason), "#")
		if address != version.Document(document) || !anchors[anchor] {
			t.Errorf("%s leads to %s#%s, and %s has no such anchor", reason, address, anchor, document)
		}
	}
}

// reasonsOfTheAPI are the values of the constants Reason… that the API declares.
func reasonsOfTheAPI(t *testing.T) (values []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "api", "v1beta2", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
				return true
			}
			if literal, is := spec.Values[0].(*ast.BasicLit); is && literal.Kind == token.STRING {
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, value)
			}
			return true
		})
	}
	return values
}
