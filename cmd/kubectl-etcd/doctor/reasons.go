package doctor

import (
	"strings"
	"sync"

	"github.com/etcdpilot/etcd-operator/docs"
)

// Reason is what docs/reasons.md has about a reason: the title it is under, what it says, and what to do. All are empty of one that is not
// there.
type Reason struct{ Section, Says, Todo string }

// Meaning looks a reason up.
func Meaning(reason string) Reason { return allReasons()[reason] }

// allReasons reads the tables. Each line is: | <a id="x"></a>`X` | meaning | what to do |.
var allReasons = sync.OnceValue(func() map[string]Reason {
	all := map[string]Reason{}
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
			all[strings.Trim(name, "`")] = Reason{section, plainText(cells[1]), plainText(todo)}
		}
	}
	return all
})

func plainText(cell string) string { return strings.ReplaceAll(cell, "\x00", "|") }
