package documents

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Block is a fenced block of a document.
type Block struct {
	// Document is the path of its document, and Line where it has the block's fence.
	Document string
	Line     int
	// Title is the nearest one above the block, and Section the nearest of the second level: ## SECTION.
	Title, Section string
	// Language is what the fence says that it is in: empty if it does not.
	Language string
	// Needs is what the mark above the block says that it takes of the world outside: <!-- needs: docker, kind -->.
	Needs []string
	// Unrun is what the marks above the block say that no test runs of it.
	Unrun []Unrun
	Text  string
}

// Unrun is a mark of what no test runs: a whole block, <!-- not run: why -->, or its lines that have a text,
// <!-- not run where it has "make chart": why -->.
type Unrun struct{ Having, Why string }

var (
	fence = regexp.MustCompile("^( *)```(.*)$")
	mark  = regexp.MustCompile(`^ *<!-- needs: (.+) -->$`)
	unrun = regexp.MustCompile(`^ *<!-- not run(?: where it has "([^"]+)")?: (.+) -->$`)
)

// Blocks are the fenced blocks of a document, in order. One that is part of a list is indented there, and not here.
func Blocks(document, text string) (blocks []Block) {
	var open *Block
	var section, under, indent string
	var above, lines []string
	for i, line := range strings.Split(text, "\n") {
		found := fence.FindStringSubmatch(line)
		switch {
		case open != nil && found == nil:
			lines = append(lines, strings.TrimPrefix(line, indent))
		case open != nil:
			open.Text = strings.Join(append(lines, ""), "\n")
			blocks = append(blocks, *open)
			open, lines = nil, nil
		case found != nil:
			indent = found[1]
			open = &Block{Document: document, Line: i + 1, Title: under, Section: section, Language: found[2]}
			open.marked(above)
			above = nil
		case mark.MatchString(line), unrun.MatchString(line):
			above = append(above, line)
		default:
			if t := title.FindStringSubmatch(line); t != nil {
				under = t[1]
			}
			if name, found := strings.CutPrefix(line, "## "); found {
				section = name
			}
			above = nil
		}
	}
	return blocks
}

// marked reads the marks above a block.
func (b *Block) marked(lines []string) {
	for _, line := range lines {
		if found := mark.FindStringSubmatch(line); found != nil {
			b.Needs = append(b.Needs, strings.Split(found[1], ", ")...)
		}
		if found := unrun.FindStringSubmatch(line); found != nil {
			b.Unrun = append(b.Unrun, Unrun{Having: found[1], Why: found[2]})
		}
	}
}

// In are the blocks of a language in a section.
func In(blocks []Block, section, language string) []Block {
	return slices.DeleteFunc(slices.Clone(blocks), func(b Block) bool { return b.Section != section || b.Language != language })
}

// Commands is the only block of commands in a section that has a text.
func Commands(blocks []Block, section, having string) (Block, error) {
	found := slices.DeleteFunc(In(blocks, section, "sh"), func(b Block) bool { return !strings.Contains(b.Text, having) })
	if len(found) != 1 {
		return Block{}, fmt.Errorf("%d blocks of commands under %s have %q", len(found), section, having)
	}
	return found[0], nil
}

// Without are the lines of the block but for those that begin with one of these.
func (b *Block) Without(beginnings ...string) []string {
	return slices.DeleteFunc(strings.Split(strings.TrimSuffix(b.Text, "\n"), "\n"), func(line string) bool {
		return slices.ContainsFunc(beginnings, func(beginning string) bool { return strings.HasPrefix(line, beginning) })
	})
}

// Printed is what a document shows below a command, to the end of the block; false if it does not show the command after a dollar sign.
func Printed(text, command string) (string, bool) {
	_, after, found := strings.Cut(text, "\n$ "+command+"\n")
	printed, _, ends := strings.Cut(after, "\n```")
	return printed, found && ends
}
