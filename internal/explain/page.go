package explain

import (
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/wrap"
)

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
	for _, part := range wrap.Words(text, out.width-column) {
		out.line(head + part)
		head = strings.Repeat(" ", column)
	}
}
