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
'''
b

c
'''

1. First:

   '''yaml
   d:
     e: 1
   '''
`, "'''", "```")
	want := []documents.Block{
		{Document: "a.md", Line: 2, Title: "One", Language: "sh", Text: "# no title\na\n"},
		{Document: "a.md", Line: 9, Title: "Two", Needs: []string{"docker", "a registry"}, Text: "b\n\nc\n"},
		{Document: "a.md", Line: 17, Title: "Two", Language: "yaml", Text: "d:\n  e: 1\n"},
	}
	if got := documents.Blocks("a.md", text); !reflect.DeepEqual(got, want) {
		t.Errorf("the blocks are %+v, want %+v", got, want)
	}
}
