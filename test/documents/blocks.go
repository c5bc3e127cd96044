package documents

import (
	"regexp"
	"strings"
)

// Block is a fenced block of a document.
type Block struct {
	// Document is the path of its document, and Line where it has the block's fence.
	Document string
	Line     int
	// Title is the nearest one above the block.
	Title string
	// Language is what the fence says that it is in: empty if it does not.
	Language string
	// Needs is what the mark above the block says that it takes of the world outside: <!-- needs: docker, kind -->.
	Needs []string
	Text  string
}

var (
	fence = regexp.MustCompile("^( *)```(.*)$")
	mark  = regexp.MustCompile(`^ *<!-- needs: (.+) -->$`)
)

// Blocks are the fenced blocks of a document, in order. One that is part of a list is indented there, and not here.
func Blocks(document, text string) (blocks []Block) {
	var open *Block
	var above, under, indent string
	var lines []string
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
			open = &Block{Document: document, Line: i + 1, Title: under, Language: found[2], Needs: needs(above)}
		default:
			if t := title.FindStringSubmatch(line); t != nil {
				under = t[1]
			}
			above = line
		}
	}
	return blocks
}

func needs(line string) []string {
	found := mark.FindStringSubmatch(line)
	if found == nil {
		return nil
	}
	return strings.Split(found[1], ", ")
}
