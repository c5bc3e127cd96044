package explain

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// purposes are what the planner's lists say of rules (as group/rule), of guards and of groups (by name).
type purposes map[string]string

// Rule is what the planner's lists say of a rule of a group, empty if that is not known.
func Rule(group, rule string) string {
	all, err := readPurposes()
	if err != nil {
		return ""
	}
	return all[group+"/"+rule]
}

// readPurposes reads the comments in the source of the lists: one behind each rule and guard, one above each group.
func readPurposes() (purposes, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "lists.go", plan.Lists, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("read the rules' comments: %w", err)
	}
	behind := map[int]string{} // by line
	for _, c := range file.Comments {
		behind[fset.Position(c.Pos()).Line] = oneLine(c.Text())
	}
	found := purposes{}
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			list, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			switch prefix, elements := listOf(list); {
			case prefix != "":
				found[prefix] = about(oneLine(decl.Doc.Text()), prefix)
				found.add(prefix+"/", elements, behind, fset)
			default:
				found.add("", elements, behind, fset)
			}
			return true
		})
	}
	if len(found) == 0 {
		return nil, errors.New("read the rules' comments: none are found in the lists")
	}
	return found, nil
}

// listOf are the elements of a group and its name, or those of a list of guards.
func listOf(list *ast.CompositeLit) (group string, elements []ast.Expr) {
	switch typ := list.Type.(type) {
	case *ast.Ident:
		if typ.Name != "group" || len(list.Elts) != 3 {
			return "", nil
		}
		name, isName := list.Elts[0].(*ast.BasicLit)
		rules, isList := list.Elts[1].(*ast.CompositeLit)
		if !isName || !isList {
			return "", nil
		}
		group, _ = strconv.Unquote(name.Value) // it is a literal
		return group, rules.Elts
	case *ast.ArrayType:
		if of, ok := typ.Elt.(*ast.Ident); ok && of.Name == "guard" {
			return "", list.Elts
		}
	}
	return "", nil
}

func (p purposes) add(prefix string, elements []ast.Expr, behind map[int]string, fset *token.FileSet) {
	for _, e := range elements {
		name, ok := e.(*ast.Ident)
		if text := behind[fset.Position(e.Pos()).Line]; ok && text != "" {
			p[prefix+name.Name] = text
		}
	}
}

// about is a comment without the name that it begins with.
func about(comment, name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(comment, name+" "), "is ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
