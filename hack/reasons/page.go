package main

import (
	"fmt"
	"strings"
)

const head = `# Reasons

Every condition, event and metric of the operator gives one of these reasons, and a message about the case at hand. ` +
	"`kubectl get etcdclusters,etcdbackups,etcdrestores,etcdusers,etcdroles` shows the one that matters most, `kubectl describe` all with their messages" + `.
<!-- Written by make generate from api/v1beta2/conditions*.go. -->
`

// page is the document. Each reason can be linked to: docs/reasons.md#quorumlost.
func page(sections []section) string {
	var b strings.Builder
	b.WriteString(head)
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		if s.intro != "" {
			fmt.Fprintf(&b, "%s\n\n", cell(s.intro))
		}
		if s.entries[0].todo == "" {
			b.WriteString("| condition | meaning |\n| --- | --- |\n")
		} else {
			b.WriteString("| reason | meaning | what to do |\n| --- | --- | --- |\n")
		}
		for _, e := range s.entries {
			if e.todo == "" {
				fmt.Fprintf(&b, "| `%s` | %s |\n", e.value, cell(e.meaning))
			} else {
				fmt.Fprintf(&b, "| <a id=%q></a>`%s` | %s | %s |\n", strings.ToLower(e.value), e.value, cell(e.meaning), cell(e.todo))
			}
		}
	}
	return b.String()
}

// cell is text as a table takes it.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
}
