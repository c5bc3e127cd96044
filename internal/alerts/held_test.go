package alerts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// heldIn are the packages that hold acts of Auto Pilot.
var heldIn = []string{"../plan", "../status"}

// TestHeldReasons wants the runbook to have a cure for every reason for which Auto Pilot may hold an act, and for nothing else.
func TestHeldReasons(t *testing.T) {
	t.Parallel()
	_, table, found := strings.Cut(text(t, "EtcdAutopilotHeld.md"), "\n| reason | cure |\n| --- | --- |\n")
	if !found {
		t.Fatal("EtcdAutopilotHeld.md has no table of reasons")
	}
	cured := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		const columns = 2
		if len(cells) != columns+2 {
			break
		}
		if strings.TrimSpace(cells[columns]) == "" {
			t.Errorf("there is no cure in %q", line)
		}
		cured[strings.Trim(cells[1], " `")] = true
	}
	held := heldReasons(t)
	if len(held) == 0 {
		t.Fatal("no reason was found in the source")
	}
	for reason := range held {
		if !cured[reason] {
			t.Errorf("EtcdAutopilotHeld.md has no cure for %s", reason)
		}
	}
	for reason := range cured {
		if !held[reason] {
			t.Errorf("nothing is held for %s, and EtcdAutopilotHeld.md has a cure", reason)
		}
	}
}

// heldReasons are the reasons that the source gives for what is held.
func heldReasons(t *testing.T) map[string]bool {
	t.Helper()
	values, held := reasonValues(t), map[string]bool{}
	add := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if s, is := n.(*ast.SelectorExpr); is && values[s.Sel.Name] != "" {
				held[values[s.Sel.Name]] = true
			}
			return true
		})
	}
	for _, folder := range heldIn {
		for _, file := range sources(t, folder) {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if name(n.Fun) == "held" {
						add(n)
					}
				case *ast.CompositeLit:
					of := n.Type
					if list, is := of.(*ast.ArrayType); is {
						of = list.Elt
					}
					if of != nil && name(of) == "HeldAct" {
						add(n)
					}
				}
				return true
			})
		}
	}
	return held
}

// name is that of a function or type, wherever it is from.
func name(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.SelectorExpr:
		return of.Sel.Name
	}
	return ""
}

// sources are the parsed files of a package, without its tests.
func sources(t *testing.T, folder string) (files []*ast.File) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, entry.Name()), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// reasonValues are the values of the API's reasons, by their constants.
func reasonValues(t *testing.T) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, file := range sources(t, "../../api/v1beta2") {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
				return true
			}
			if literal, is := spec.Values[0].(*ast.BasicLit); is {
				if value, err := strconv.Unquote(literal.Value); err == nil {
					values[spec.Names[0].Name] = value
				}
			}
			return true
		})
	}
	return values
}
