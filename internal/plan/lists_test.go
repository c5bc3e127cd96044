package plan

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNoRuleCallsARule holds that the lists are all there is to say about who is asked when: neither a rule nor a guard leads to
// another one, by whatever helpers.
func TestNoRuleCallsARule(t *testing.T) {
	for _, found := range load(t).callsOfRules(t) {
		t.Error(found)
	}
}

// TestCallsOfRulesAreFound adds rules to the package that are wrong in each way that there is.
func TestCallsOfRulesAreFound(t *testing.T) {
	shipped := load(t)
	for title, c := range map[string]struct{ code, want string }{
		"directly":                  {`func bad(v *view) Action { return updateNextMember(v) }`, "bad -> updateNextMember"},
		"by a helper":               {`func bad(v *view) Action { return v.far() }; func (v *view) far() Action { return near(v) }; func near(v *view) Action { return updateNextMember(v) }`, "bad -> far -> near -> updateNextMember"},
		"as a value":                {`func bad(v *view) Action { f := updateNextMember; return f(v) }`, "bad -> updateNextMember"},
		"in a function of its own":  {`func bad(v *view) Action { return func() Action { return updateNextMember(v) }() }`, "bad -> updateNextMember"},
		"by another name":           {`var other = updateNextMember; func bad(v *view) Action { return other(v) }`, "bad -> other -> updateNextMember"},
		"by way of a helper's type": {`type aide struct{}; func (aide) help(v *view) Action { return updateNextMember(v) }; func bad(v *view) Action { return aide{}.help(v) }`, "bad -> help -> updateNextMember"},
		"a guard":                   {`func bad(v *view) Action { return requireQuorum(v, nil) }`, "bad -> requireQuorum"},
		"itself":                    {`func bad(v *view) Action { return bad(v) }`, "bad -> bad"},
	} {
		t.Run(title, func(t *testing.T) {
			more := shipped.with(t, "more.go", "package plan; var more = group{\"more\", []rule{bad}, lenient}; "+c.code)
			found := more.callsOfRules(t)
			if !slices.Equal(found, []string{c.want}) {
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
}

// callsOfRules are the ways from rules and guards to others.
func (s source) callsOfRules(t *testing.T) []string {
	t.Helper()
	info := s.names(t)
	uses := map[types.Object][]types.Object{} // of functions and variables of the package
	listed := map[types.Object]bool{}
	for _, file := range s.files {
		for _, d := range file.Decls {
			for of, node := range declared(d, info) {
				uses[of] = usesIn(node, info)
				listedIn(node, info, listed)
			}
		}
	}
	if n := len(listed); n < len(rules)/2 {
		t.Fatalf("only %d rules and guards are found in the lists", n)
	}
	var found []string
	for from := range listed {
		if way := wayTo(from, uses, listed); way != "" {
			found = append(found, way)
		}
	}
	slices.Sort(found)
	return found
}

// declared are the functions and variables that a declaration declares, and where what they use is.
func declared(d ast.Decl, info *types.Info) map[types.Object]ast.Node {
	all := map[types.Object]ast.Node{}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Body != nil {
			all[info.Defs[d.Name]] = d.Body
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
				for _, name := range values.Names {
					all[info.Defs[name]] = values
				}
			}
		}
	}
	return all
}

// usesIn are the functions and package variables that are named there.
func usesIn(n ast.Node, info *types.Info) []types.Object {
	var all []types.Object
	ast.Inspect(n, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			switch o := info.Uses[name].(type) {
			case *types.Func:
				all = append(all, o)
			case *types.Var:
				if !o.IsField() && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
					all = append(all, o)
				}
			}
		}
		return true
	})
	return all
}

// listedIn notes the functions in literals of []rule and []guard.
func listedIn(n ast.Node, info *types.Info, listed map[types.Object]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		list, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		slice, ok := info.TypeOf(list).(*types.Slice)
		if !ok {
			return true
		}
		named, ok := slice.Elem().(*types.Named)
		if !ok || named.Obj().Name() != "rule" && named.Obj().Name() != "guard" {
			return true
		}
		for _, e := range list.Elts {
			for _, o := range usesIn(e, info) {
				listed[o] = true
			}
		}
		return true
	})
}

// wayTo is the shortest way from there to any that is listed, empty if there is none.
func wayTo(from types.Object, uses map[types.Object][]types.Object, listed map[types.Object]bool) string {
	ways := map[types.Object]string{from: from.Name()}
	for queue := []types.Object{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range uses[queue[0]] {
			way := ways[queue[0]] + " -> " + next.Name()
			if listed[next] {
				return way
			}
			if _, seen := ways[next]; !seen {
				ways[next] = way
				queue = append(queue, next)
			}
		}
	}
	return ""
}

// source is the package's own, without its tests.
type source struct {
	fset    *token.FileSet
	files   []*ast.File
	imports types.Importer
}

func load(t *testing.T) source {
	t.Helper()
	s := source{fset: token.NewFileSet()}
	s.imports = importer.ForCompiler(s.fset, "gc", exports(t))
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			s = s.with(t, name, nil)
		}
	}
	return s
}

// with is the source with another file: that code, or what is in the folder under that name.
func (s source) with(t *testing.T, name string, code any) source {
	t.Helper()
	file, err := parser.ParseFile(s.fset, name, code, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.files = append(slices.Clone(s.files), file)
	return s
}

// names says what each name stands for.
func (s source) names(t *testing.T) *types.Info {
	t.Helper()
	info := &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{},
	}
	config := types.Config{Importer: s.imports}
	if _, err := config.Check("plan", s.fset, s.files, info); err != nil {
		t.Fatal(err)
	}
	return info
}

// exports finds what the compiler has written of the packages that are imported.
func exports(t *testing.T) importer.Lookup {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", "-f", "{{.ImportPath}}={{.Export}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), "=")
		paths[name] = path
	}
	return func(name string) (io.ReadCloser, error) {
		path, ok := paths[name]
		if !ok {
			return nil, fmt.Errorf("%s is not imported by the package", name)
		}
		return os.Open(path)
	}
}
