package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestComplete wants every reason of the API in docs/reasons.md once, and used somewhere.
func TestComplete(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/reasons.md"))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, folder := range []string{"controllers", "internal"} {
		maps.Copy(used, names(t, filepath.Join(root, folder), func(n ast.Node) *ast.Ident {
			if s, ok := n.(*ast.SelectorExpr); ok {
				return s.Sel
			}
			return nil
		}))
	}
	declared := names(t, filepath.Join(root, "api/v1beta2"), func(n ast.Node) *ast.Ident {
		if s, ok := n.(*ast.ValueSpec); ok {
			return s.Names[0]
		}
		return nil
	})
	if len(declared) < 100 {
		t.Fatalf("found only %v", slices.Sorted(maps.Keys(declared)))
	}
	for name := range declared {
		row := `<a id="` + strings.ToLower(strings.TrimPrefix(name, "Reason")) + `"></a>`
		if n := strings.Count(string(text), row); n != 1 {
			t.Errorf("%s is %d times in docs/reasons.md", name, n)
		}
		if !used[name] {
			t.Errorf("nobody gives %s", name)
		}
	}
}

// names are the identifiers Reason… that pick finds in the Go files of a folder, its tests left out.
func names(t *testing.T, folder string, pick func(ast.Node) *ast.Ident) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if id := pick(n); id != nil && strings.HasPrefix(id.Name, "Reason") && len(id.Name) > len("Reason") {
				found[id.Name] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestComments wants a comment that leaves something out to be refused, by its constant's name.
func TestComments(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"good":             {"// # T\nconst (\n\t// ReasonA means that x.\n\t//\n\t// Do y.\n\tReasonA = \"A\"\n)", ""},
		"no heading":       {"const (\n\t// ReasonA means that x.\n\t//\n\t// Do y.\n\tReasonA = \"A\"\n)", "heading"},
		"nothing to do":    {"// # T\nconst (\n\t// ReasonA means that x.\n\tReasonA = \"A\"\n)", "ReasonA"},
		"another name":     {"// # T\nconst (\n\t// ReasonA means that x.\n\t//\n\t// Do y.\n\tReasonA = \"B\"\n)", "ReasonA"},
		"no meaning":       {"// # T\nconst (\n\t// ReasonA is x.\n\t//\n\t// Do y.\n\tReasonA = \"A\"\n)", "ReasonA"},
		"a condition":      {"// # T\nconst (\n\t// ConditionA is true if x.\n\tConditionA = \"A\"\n)", ""},
		"no comment at it": {"// # T\nconst (\n\tReasonA = \"A\"\n)", "ReasonA"},
	} {
		file := filepath.Join(t.TempDir(), "conditions.go")
		if err := os.WriteFile(file, []byte("package x\n\n"+c.source+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := read([]string{file})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestPage wants a row to be read as one, whatever its text holds.
func TestPage(t *testing.T) {
	got := page([]section{{title: "T", intro: "In <name>.", entries: []entry{{"A", "x | y", "Do z."}}}})
	for _, want := range []string{"\n## T\n\nIn &lt;name>.\n", `| <a id="a"></a>` + "`A`" + ` | x \| y | Do z. |`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwants %q", got, want)
		}
	}
}
