package explain

import "strings"

// line is one line.
func (out *page) line(text string) {
	_, _ = out.WriteString(strings.TrimRight(text, " ") + "\n")
}

// item is a name, and text in the column behind it, in as many lines as it takes. Column 0 is right behind the name.
func (out *page) item(indent, column int, name, text string) {
	head := strings.Repeat(" ", indent) + name
	if column == 0 {
		column = len(head) + 1
	}
	head += strings.Repeat(" ", max(column-len(head), 1))
	for _, part := range wrap(text, out.width-column) {
		out.line(head + part)
		head = strings.Repeat(" ", column)
	}
}

// wrap breaks text between words. A word that is too long stays whole, to be copied.
func wrap(text string, columns int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len([]rune(*last))+1+len([]rune(word)) <= columns:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
