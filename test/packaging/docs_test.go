package packaging

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

// texts gives the text of every document by its path from the root.
func texts(t *testing.T) map[string]string {
	t.Helper()
	texts, err := documents.Read(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// makefiles are the Makefile and what it includes.
var makefiles = []string{"Makefile", "hack/bundle.mk", "hack/docs.mk", "hack/namespaced.mk", "hack/release.mk"}

var (
	// code is what a document shows as code: a block, or a span in a line.
	code = regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]+`")
	// target is what make is to build. Comments and variables have other characters.
	target = regexp.MustCompile("(?m)(?:^ *|`|&& )make ([a-z][a-z -]*[a-z])")
	// testNamed is a test in a table: its folder where several have one of that name, its function, and its parts.
	testNamed = regexp.MustCompile("`(?:([a-z][\\w/]*) )?(Test[A-Z]\\w*)((?:/[^`|]+)?)`")
	function  = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	// pathNamed is a path from the root, or what follows one in a command. A pattern, such as hack/tools/*, is none.
	pathNamed = regexp.MustCompile("(?:`|[ =](?:\\./)?)((?:config|docs|hack)/[\\w./*-]+)|`((?:api|cmd|controllers|internal|test)/[\\w./*-]+)")
)

// codeIn is all code of a text, each piece on lines of its own.
func codeIn(text string) string { return strings.Join(code.FindAllString(text, -1), "\n") }

// TestDocumentLinks checks that every relative link in the documents leads to a file, and its fragment to a title there.
func TestDocumentLinks(t *testing.T) {
	texts := texts(t)
	for name, text := range texts {
		for _, link := range documents.Links(text) {
			if strings.Contains(link, "://") {
				continue
			}
			file, fragment, _ := strings.Cut(link, "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, link)
				continue
			}
			if fragment != "" && !documents.Anchors(texts[to])[fragment] {
				t.Errorf("%s links to %s, and %s has no such title", name, link, to)
			}
		}
	}
}

// TestDocumentTargets checks that every target that the documents have make build exists.
func TestDocumentTargets(t *testing.T) {
	var all string
	for _, file := range makefiles {
		all += string(read(t, file)) + "\n"
	}
	for name, text := range texts(t) {
		for _, m := range target.FindAllStringSubmatch(codeIn(text), -1) {
			for word := range strings.FieldsSeq(m[1]) {
				if !strings.Contains(all, "\n"+word+":") {
					t.Errorf("%s has make %s, and there is no target %s", name, m[1], word)
				}
			}
		}
	}
}

// TestDocumentPaths checks that every file and folder of the source tree that the documents name exists.
func TestDocumentPaths(t *testing.T) {
	for name, text := range texts(t) {
		for _, m := range pathNamed.FindAllStringSubmatch(codeIn(text), -1) {
			named := strings.TrimRight(m[1]+m[2], ".")
			if strings.Contains(named, "*") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, named)); err != nil {
				t.Errorf("%s names %s, which does not exist", name, named)
			}
		}
	}
}

// TestDocumentTests checks that every test that docs/backup-and-restore.md names exists in one folder, the one that is named
// with it if several have one of that name.
func TestDocumentTests(t *testing.T) {
	const name = "docs/backup-and-restore.md"
	folders := testFolders(t)
	for _, m := range testNamed.FindAllStringSubmatch(string(read(t, name)), -1) {
		in := folders[m[2]]
		if m[1] != "" {
			in = map[string]string{m[1]: in[m[1]]}
		}
		if len(in) != 1 {
			t.Errorf("%s names %s, which is in %d folders: %v", name, m[0], len(in), slices.Sorted(maps.Keys(in)))
		}
		for folder, text := range in {
			if text == "" {
				t.Errorf("%s names %s, which is not in %s", name, m[0], folder)
			}
			for part := range strings.SplitSeq(strings.TrimPrefix(m[3], "/"), "/") {
				if !strings.Contains(text, part) && !strings.Contains(text, strings.ReplaceAll(part, "_", " ")) {
					t.Errorf("%s names %s, and no test in %s has a part %s", name, m[0], folder, part)
				}
			}
		}
	}
}

// testFolders gives, of every test, the folders that have one of that name, and the text of all test files there. What was built, among it a release's
// own copy of the tree, is none of them.
func testFolders(t *testing.T) map[string]map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case file == filepath.Join(root, "bin") || file == filepath.Join(root, "dist"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(file)
		folder, _ := filepath.Rel(root, filepath.Dir(file))
		texts[filepath.ToSlash(folder)] += string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]string{}
	for folder, text := range texts {
		for _, m := range function.FindAllStringSubmatch(text, -1) {
			if found[m[1]] == nil {
				found[m[1]] = map[string]string{}
			}
			found[m[1]][folder] = text
		}
	}
	return found
}
