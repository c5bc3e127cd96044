package documents_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

// TestBlocks reads blocks with a language and without, marked and not, in a list, and with what would be a title outside.
func TestBlocks(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(`# One
'''sh
# no title
a
'''
## Two

<!-- needs: docker, a registry -->
<!-- not run where it has "b": it takes hours -->
'''
b

c
'''

<!-- not run: this is above no block -->

1. First:

   <!-- not run: see above -->
   '''yaml
   d:
     e: 1
   '''
`, "'''", "```")
	want := []documents.Block{
		{Document: "a.md", Line: 2, Title: "One", Language: "sh", Text: "# no title\na\n"},
		{Document: "a.md", Line: 10, Title: "Two", Section: "Two", Needs: []string{"docker", "a registry"}, Unrun: []documents.Unrun{{Having: "b", Why: "it takes hours"}}, Text: "b\n\nc\n"},
		{Document: "a.md", Line: 21, Title: "Two", Section: "Two", Language: "yaml", Unrun: []documents.Unrun{{Why: "see above"}}, Text: "d:\n  e: 1\n"},
	}
	if got := documents.Blocks("a.md", text); !reflect.DeepEqual(got, want) {
		t.Errorf("the blocks are %+v, want %+v", got, want)
	}
}

// TestCommands finds the only block of commands that has a text, and leaves lines out.
func TestCommands(t *testing.T) {
	t.Parallel()
	blocks := documents.Blocks("a.md", strings.ReplaceAll("## One\n'''sh\na b\nc b\n'''\n### Below\n'''sh\nd b\n'''\n## Two\n'''sh\na\n'''\n", "'''", "```"))
	block, err := documents.Commands(blocks, "One", "a ")
	if left := block.Without("c "); err != nil || !reflect.DeepEqual(left, []string{"a b"}) {
		t.Errorf("found %q, %v", left, err)
	}
	if _, err := documents.Commands(blocks, "One", "b"); err == nil {
		t.Error("one of two blocks is taken")
	}
	if in := documents.In(blocks, "One", "sh"); len(in) != 2 {
		t.Errorf("the section has %+v", in)
	}
}

// TestPrinted wants what is below a command, up to the end of its block, and only below a whole one.
func TestPrinted(t *testing.T) {
	const text = "```console\n$ a b\none\n\n$ a\ntwo\n```\nthree\n```\n"
	for command, want := range map[string]string{"a b": "one\n\n$ a\ntwo", "a": "two", "b": ""} {
		if got, found := documents.Printed(text, command); got != want || found != (want != "") {
			t.Errorf("below %q: %q, %v", command, got, found)
		}
	}
}
