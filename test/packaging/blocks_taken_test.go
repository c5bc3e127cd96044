package packaging

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

// takers are the folders of the tests that take blocks of commands out of documents and run them.
var takers = []string{"test/e2e/stories", "test/e2e/install", "test/e2e/olm", "test/packaging"}

// migration is the document of which a story runs all blocks of a section, and knows how many there are: runsAll(section, number).
const migration = "docs/migrate.md"

// taken is what a test takes out of a document and runs, by its call: commands(document, section, having, without...).
type taken struct {
	// at is where the call is.
	at                        string
	document, section, having string
	// all is how many blocks the section is to have, if all are run.
	all int
	// without are beginnings of lines that are left out, and unchecked parts of lines.
	without, unchecked []string
}

// runs gives the lines of a document that the test runs, by the blocks' own lines.
func (k taken) runs(t *testing.T, blocks []documents.Block) map[int][]string {
	t.Helper()
	lines := map[int][]string{}
	chosen := documents.In(blocks, k.section, "sh")
	switch {
	case k.all > 0 && len(chosen) != k.all:
		t.Errorf("%s knows %d blocks of commands under %s of %s, and there are %d", k.at, k.all, k.section, k.document, len(chosen))
	case k.having != "":
		block, err := documents.Commands(blocks, k.section, k.having)
		if err != nil {
			t.Errorf("%s takes a block of %s: %v", k.at, k.document, err)
			return nil
		}
		chosen = []documents.Block{block}
	}
	for _, block := range chosen {
		lines[block.Line] = slices.DeleteFunc(block.Without(k.without...), func(line string) bool {
			return slices.ContainsFunc(k.unchecked, func(part string) bool { return strings.Contains(line, part) })
		})
	}
	return lines
}

// source is a folder of tests.
type source struct {
	t         *testing.T
	positions *token.FileSet
	files     []*ast.File
	constants map[string]string
}

// takenBy reads from the sources of all tests which blocks they take.
func takenBy(t *testing.T) (all []taken) {
	t.Helper()
	for _, folder := range takers {
		s := &source{t: t, positions: token.NewFileSet(), constants: map[string]string{}}
		files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no tests: %v", folder, err)
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(s.positions, file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			s.files = append(s.files, parsed)
			s.collect(parsed)
		}
		all = append(all, s.calls()...)
		all = append(all, s.runbooks()...)
	}
	return all
}

// collect notes the constants of a file that are strings.
func (s *source) collect(file *ast.File) {
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST {
			continue
		}
		for _, spec := range general.Specs {
			if v := spec.(*ast.ValueSpec); len(v.Names) == len(v.Values) {
				for i, name := range v.Names {
					if text, ok := s.text(v.Values[i]); ok {
						s.constants[name.Name] = text
					}
				}
			}
		}
	}
}

// text is the value of an expression that is a string.
func (s *source) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		text, found := s.constants[e.Name]
		return text, found
	}
	return "", false
}

// texts are the values of expressions up to the first that is no string.
func (s *source) texts(all []ast.Expr) (found []string) {
	for _, e := range all {
		text, ok := s.text(e)
		if !ok {
			break
		}
		found = append(found, text)
	}
	return found
}

// each calls a function for every call below a node.
func each(below ast.Node, visit func(name string, call *ast.CallExpr)) {
	ast.Inspect(below, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				visit(f.Sel.Name, call)
			case *ast.Ident:
				visit(f.Name, call)
			}
		}
		return true
	})
}

// calls finds the calls that name what they take in string literals or constants. A call inside a helper that only passes on its parameters is not
// one of them.
func (s *source) calls() (all []taken) {
	for _, file := range s.files {
		each(file, func(name string, call *ast.CallExpr) {
			at, words := s.at(call), s.texts(call.Args)
			switch {
			case strings.EqualFold(name, "commands") && len(words) >= 3:
				if len(words) != len(call.Args) || call.Ellipsis.IsValid() {
					s.t.Errorf("%s: the lines that it leaves out have to be string literals or constants, so that this test can read them", at)
				}
				all = append(all, taken{at: at, document: path.Join("docs", words[0]), section: words[1], having: words[2], without: words[3:]})
			case (name == "runsAll" || name == "blocks") && len(words) == 1 && len(call.Args) == 2:
				if n, ok := call.Args[1].(*ast.BasicLit); ok && n.Kind == token.INT {
					number, _ := strconv.Atoi(n.Value)
					all = append(all, taken{at: at, document: migration, section: words[0], all: number})
				}
			}
		})
	}
	return all
}

func (s *source) at(n ast.Node) string {
	position := s.positions.Position(n.Pos())
	return filepath.Base(position.Filename) + ":" + strconv.Itoa(position.Line)
}

// runbooks are what the stories of alerts take: each row of their table names the alert, what of "Check" it leaves out, and the function that
// runs blocks under "Cure", by a text that each has: runs(having, folder).
func (s *source) runbooks() (all []taken) {
	for _, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			row, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			fields := map[string]ast.Expr{}
			for _, element := range row.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					if key, ok := pair.Key.(*ast.Ident); ok {
						fields[key.Name] = pair.Value
					}
				}
			}
			alert, named := s.text(fields["alert"])
			cures, cured := fields["cures"].(*ast.SelectorExpr)
			if !named || !cured {
				return true
			}
			document := "docs/runbooks/" + alert + ".md"
			check := taken{at: s.at(row), document: document, section: "Check"}
			if parts, ok := fields["unchecked"].(*ast.CompositeLit); ok {
				check.unchecked = s.texts(parts.Elts)
			}
			all = append(all, check)
			for _, having := range s.curing(cures.Sel.Name) {
				all = append(all, taken{at: s.at(row), document: document, section: "Cure", having: having})
			}
			return true
		})
	}
	return all
}

// curing are the texts of the blocks that a method runs.
func (s *source) curing(method string) (having []string) {
	for _, file := range s.files {
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || function.Recv == nil || function.Name.Name != method {
				continue
			}
			each(function.Body, func(name string, call *ast.CallExpr) {
				if words := s.texts(call.Args); name == "runs" && len(call.Args) == 2 && len(words) > 0 {
					having = append(having, words[0])
				}
			})
		}
	}
	return having
}
