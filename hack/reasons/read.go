package main

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// section is a block of constants.
type section struct {
	title, intro string
	entries      []entry
}

// entry is one constant. What to do is empty of a condition.
type entry struct{ value, meaning, todo string }

// read gives the sections of files in their order.
func read(files []string) (sections []section, err error) {
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			block, ok := d.(*ast.GenDecl)
			if !ok || block.Tok != token.CONST {
				continue
			}
			s, err := sectionOf(block)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			sections = append(sections, s)
		}
	}
	return sections, nil
}

func sectionOf(block *ast.GenDecl) (section, error) {
	var s section
	text := (&comment.Parser{}).Parse(block.Doc.Text()).Content
	heading, ok := first(text).(*comment.Heading)
	if !ok {
		return s, fmt.Errorf("a block of constants has no heading: begin its comment with # and a title")
	}
	s.title, s.intro = plain(heading.Text), strings.Join(paragraphs(text[1:]), " ")
	for _, spec := range block.Specs {
		e, err := entryOf(spec.(*ast.ValueSpec)) //nolint:forcetypeassert // a block of constants has no other
		if err != nil {
			return s, err
		}
		s.entries = append(s.entries, e)
	}
	return s, nil
}

func entryOf(spec *ast.ValueSpec) (e entry, err error) {
	name := spec.Names[0].Name
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok {
		return e, fmt.Errorf("%s is no literal", name)
	}
	if e.value, err = strconv.Unquote(literal.Value); err != nil {
		return e, fmt.Errorf("%s: %w", name, err)
	}
	all := paragraphs((&comment.Parser{}).Parse(spec.Doc.Text()).Content)
	switch {
	case name == "Condition"+e.value && len(all) == 1:
		e.meaning, ok = strings.CutPrefix(all[0], name+" ")
	case name == "Reason"+e.value && len(all) == 2:
		e.meaning, ok = strings.CutPrefix(all[0], name+" means that ")
		e.todo = all[1]
	default:
		return e, fmt.Errorf("%s = %q: want ConditionX with one paragraph, or ReasonX with one that says what it means and one "+
			"that says what to do", name, e.value)
	}
	if !ok {
		return e, fmt.Errorf("the comment of %s must begin with its name, and go on with \"means that\" if it is a reason", name)
	}
	return e, nil
}

func first(blocks []comment.Block) comment.Block {
	if len(blocks) == 0 {
		return nil
	}
	return blocks[0]
}

// paragraphs are those of a comment, each in one line.
func paragraphs(blocks []comment.Block) []string {
	var all []string
	for _, b := range blocks {
		if p, ok := b.(*comment.Paragraph); ok {
			all = append(all, plain(p.Text))
		}
	}
	return all
}

func plain(text []comment.Text) string {
	var b strings.Builder
	for _, t := range text {
		switch t := t.(type) {
		case comment.Plain:
			b.WriteString(string(t))
		case comment.Italic:
			b.WriteString(string(t))
		case *comment.Link:
			b.WriteString(plain(t.Text))
		case *comment.DocLink:
			b.WriteString(plain(t.Text))
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
