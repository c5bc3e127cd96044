package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// nothing is what documents say until the first release. A page says it of no release, not even of a rehearsed one.
const nothing = "Nothing is published yet."

// unpublished matches what documents say until the first release, and in a table until that of a version.
var unpublished = regexp.MustCompile(`Nothing is (?:published|released) yet|, not released \|`)

// published wants no document to say that what is released is not.
func (t Tree) published() error {
	tree := os.DirFS(t.Dir)
	var found []error
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := fs.Glob(tree, pattern)
		if err != nil {
			return fmt.Errorf("list the documents: %w", err)
		}
		for _, file := range files {
			text, err := fs.ReadFile(tree, file)
			if err != nil {
				return fmt.Errorf("read a document: %w", err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if said := unpublished.FindString(line); said != "" {
					found = append(found, fmt.Errorf("%s:%d says %q: take it out", file, i+1, said))
				}
			}
		}
	}
	return errors.Join(found...)
}
