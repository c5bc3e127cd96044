// Package reasons has what docs/reasons.md says of the reasons of conditions, events and held acts.
package reasons

import (
	"strings"
	"sync"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
	"github.com/etcdpilot/etcd-operator/docs"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Meaning is what the document has about a reason: the title it is under, what it says, and what to do. All are empty of one that is not
// there.
type Meaning struct{ Section, Says, Todo string }

// Of looks a reason up.
func Of(reason string) Meaning { return all()[reason] }

// Link is the address of what the document says of a reason, empty if it says nothing: a newer operator has reasons that are not known here.
func Link(reason string) string {
	if Of(reason) == (Meaning{}) {
		return ""
	}
	return version.Document("docs/reasons.md") + "#" + strings.ToLower(reason)
}

// Lead is before a link where a person reads it.
const Lead = "why and what to do: "

// Write writes the link in a column of a page, below what is wrong, if there is one. It stays in one piece, to be copied.
func Write(p *terminal.Page, column int, reason string) {
	if link := Link(reason); link != "" {
		p.Line(strings.Repeat(" ", column) + Lead + link)
	}
}

// all reads the tables. Each line is: | <a id="x"></a>`X` | meaning | what to do |.
var all = sync.OnceValue(func() map[string]Meaning {
	found := map[string]Meaning{}
	section := ""
	for line := range strings.Lines(docs.Reasons) {
		if title, is := strings.CutPrefix(line, "## "); is {
			section = strings.TrimSpace(title)
		}
		rest, ok := strings.CutPrefix(line, "| <a id=")
		if !ok {
			continue
		}
		cells := strings.Split(strings.NewReplacer(`\|`, "\x00", "&lt;", "<").Replace(rest), " | ")
		if _, name, ok := strings.Cut(cells[0], "</a>`"); ok && len(cells) == 3 {
			todo := strings.TrimSuffix(strings.TrimSpace(cells[2]), " |")
			found[strings.Trim(name, "`")] = Meaning{section, plainText(cells[1]), plainText(todo)}
		}
	}
	return found
})

func plainText(cell string) string { return strings.ReplaceAll(cell, "\x00", "|") }
