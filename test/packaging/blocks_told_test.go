package packaging

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

// told are blocks that a test reads in their document, and compares with what it knows or applies. TestDocumentBlocksRun knows of those that
// are commands.
type told struct {
	document, title, language string
	// test is a function in a folder.
	folder, test string
	// by is how the test finds the block.
	by string
}

// compared are the blocks that a test compares with what it knows, and that nothing here can judge.
var compared = []told{
	{"CONTRIBUTING.md", "A decision, explained", "", "hack/replay", "TestExplain", `CONTRIBUTING.md`},
	{"README.md", "Run a cluster", "", "test/e2e/stories", "TestReadme", `"kubectl get etcd"`},
	{"docs/operations.md", "Operations", "", "test/e2e/stories", "TestStatusShown", `"kubectl get etcd -o wide"`},
	{"docs/observability.md", "By OLM", "yaml", ".", "TestObservabilityByOLM", `monitoring.yaml`},
	{"docs/install.md", "With OLM", "yaml", "test/e2e/install", "TestToOLM", `"With OLM", "yaml"`},
}

// is reports whether these are the blocks that this one is among.
func (p *page) is(t told) bool {
	return p.block.Document == t.document && p.block.Title == t.title && p.block.Language == t.language
}

// TestDocumentBlocksTold wants the blocks that a test is said to read to be there, and the file of the test to look for them.
func TestDocumentBlocksTold(t *testing.T) {
	texts := texts(t)
	for _, row := range compared {
		blocks := documents.Blocks(row.document, texts[row.document])
		if !slices.ContainsFunc(blocks, func(b documents.Block) bool { return b.Title == row.title && b.Language == row.language }) {
			t.Errorf("%s has no block in %q under %s", row.document, row.language, row.title)
		}
		source := fileOf(t, row.folder, row.test)
		for _, part := range []string{path.Base(row.document), row.by} {
			if !strings.Contains(source, part) {
				t.Errorf("%s is said to read %s of %s, and its file does not look for %s", row.test, row.title, row.document, part)
			}
		}
	}
}

// fileOf is the text of the file in a folder that has a test: others there may have the same words for another document.
func fileOf(t *testing.T, folder, test string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+test+"(t *testing.T)") {
			return string(text)
		}
	}
	t.Errorf("%s has no test %s", folder, test)
	return ""
}
