// Package wrap breaks prose into lines.
package wrap

import (
	"strings"
	"unicode/utf8"
)

// Words breaks text between words into lines of at most so many columns. A word that is longer stays whole, to be copied.
func Words(text string, columns int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= columns:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
