// Package documents reads the documents of the source tree: their titles, the links between them, and their fenced blocks.
package documents

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"unicode"
)

// Patterns are what the documents are called, by their path from the top of the source tree.
var Patterns = []string{"*.md", "docs/*.md", "docs/runbooks/*.md"}

var (
	fenced = regexp.MustCompile("(?ms)^```.*?^```")
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	title  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	named  = regexp.MustCompile(`<a id="([^"]+)"></a>`)
)

// Read gives the text of every document by its path from the top of the source tree.
func Read(tree fs.FS) (map[string]string, error) {
	texts := map[string]string{}
	for _, pattern := range Patterns {
		files, err := fs.Glob(tree, pattern)
		if err != nil {
			return nil, fmt.Errorf("list the documents: %w", err)
		}
		for _, file := range files {
			text, err := fs.ReadFile(tree, file)
			if err != nil {
				return nil, fmt.Errorf("read a document: %w", err)
			}
			texts[file] = string(text)
		}
	}
	return texts, nil
}

// Links are where the links of a text lead.
func Links(text string) []string {
	var found []string
	for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		found = append(found, m[1])
	}
	return found
}

// Anchors are the fragments that a text can be linked to by: those that GitHub gives its titles, and those that it gives itself.
func Anchors(text string) map[string]bool {
	text = fenced.ReplaceAllString(text, "")
	found := map[string]bool{}
	for _, m := range title.FindAllStringSubmatch(text, -1) {
		found[anchor(m[1])] = true
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found
}

// anchor is the fragment that GitHub gives a title.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, title)
}
