package packaging

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

// coverage is how many blocks of commands tests run.
type coverage struct{ all, run, partly, world, unrun int }

// TestDocumentBlocksRun wants every block of commands to be run by a test as a whole, or to have a mark that says what of it is not, and why:
// that it needs the world outside, or another reason. What a test runs is read from its source. No mark outlives its reason.
func TestDocumentBlocksRun(t *testing.T) {
	texts, takes, named := texts(t), takenBy(t), testFolders(t)
	sum := coverage{}
	for _, document := range slices.Sorted(maps.Keys(texts)) {
		blocks := documents.Blocks(document, texts[document])
		ran, here := linesRun(t, document, blocks, takes), coverage{}
		for _, block := range blocks {
			for _, test := range testsNamed(block.Unrun) {
				if named[test] == nil {
					t.Errorf("%s:%d: the mark names %s, which is no test", document, block.Line, test)
				}
			}
			if block.Language == "sh" || block.Language == "bash" {
				here.add(t, block, ran[block.Line])
			} else if len(block.Unrun) > 0 {
				t.Errorf("%s:%d has no commands, and a mark that says that they are not run", document, block.Line)
			}
		}
		if here.all > 0 {
			t.Logf("%-45s %+v", document, here)
		}
		sum = coverage{sum.all + here.all, sum.run + here.run, sum.partly + here.partly, sum.world + here.world, sum.unrun + here.unrun}
	}
	for _, k := range takes {
		if _, found := texts[k.document]; !found {
			t.Errorf("%s takes a block of %s, which is no document", k.at, k.document)
		}
	}
	sum.isTold(t, texts["CONTRIBUTING.md"])
}

// linesRun are the lines that tests run of each block of a document, by the block's own line.
func linesRun(t *testing.T, document string, blocks []documents.Block, takes []taken) map[int]map[string]bool {
	t.Helper()
	ran := map[int]map[string]bool{}
	for _, k := range takes {
		if k.document != document {
			continue
		}
		for block, lines := range k.runs(t, blocks) {
			if ran[block] == nil {
				ran[block] = map[string]bool{}
			}
			for _, line := range lines {
				ran[block][line] = true
			}
		}
	}
	return ran
}

var testInMark = regexp.MustCompile(`\bTest[A-Z]\w*`)

// testsNamed are the tests that marks name as a reason.
func testsNamed(marks []documents.Unrun) (found []string) {
	for _, mark := range marks {
		found = append(found, testInMark.FindAllString(mark.Why, -1)...)
	}
	return found
}

// add counts a block by the lines of it that tests run, and compares these with its marks.
func (c *coverage) add(t *testing.T, block documents.Block, ran map[string]bool) {
	t.Helper()
	c.all++
	left := slices.DeleteFunc(block.Without(), func(line string) bool { return ran[line] || strings.TrimSpace(line) == "" })
	whole := slices.ContainsFunc(block.Unrun, func(u documents.Unrun) bool { return u.Having == "" })
	switch {
	case len(left) == 0:
		c.run++
	case len(ran) > 0:
		c.partly++
	case len(block.Needs) > 0:
		c.world++
	default:
		c.unrun++
	}
	if whole && (len(ran) > 0 || len(block.Needs) > 0) {
		t.Errorf("%s:%d: the mark says that no test runs this: it is run, or another mark says what it needs", block.Document, block.Line)
	}
	for _, u := range block.Unrun {
		if u.Having != "" && !slices.ContainsFunc(left, func(line string) bool { return strings.Contains(line, u.Having) }) {
			t.Errorf("%s:%d: the mark says that no test runs lines with %q, and none is left out", block.Document, block.Line, u.Having)
		}
	}
	if whole || len(ran) == 0 && len(block.Needs) > 0 {
		return
	}
	for _, line := range left {
		if !slices.ContainsFunc(block.Unrun, func(u documents.Unrun) bool { return strings.Contains(line, u.Having) }) &&
			!slices.ContainsFunc(block.Needs, func(need string) bool { return strings.HasPrefix(line, need+" ") }) {
			t.Errorf("%s:%d: no test runs %q, and no mark says why", block.Document, block.Line, line)
		}
	}
}

// counted is what CONTRIBUTING.md says of how many blocks there are.
var counted = regexp.MustCompile(`Of (\d+) blocks of commands tests run (\d+) and parts of (\d+) others, (\d+) need the world outside, and (\d+) are marked`)

// isTold wants CONTRIBUTING.md to say how much of the documents is run, within a tenth: nobody is to count anew for each block.
func (c *coverage) isTold(t *testing.T, text string) {
	t.Helper()
	t.Logf("%+v", *c)
	said := counted.FindStringSubmatch(text)
	if said == nil {
		t.Fatalf("CONTRIBUTING.md does not say %q: %+v", counted, *c)
	}
	for i, count := range []int{c.all, c.run, c.partly, c.world, c.unrun} {
		if told, err := strconv.Atoi(said[i+1]); err != nil || max(told-count, count-told)*10 > count+10 {
			t.Errorf("CONTRIBUTING.md says %q, and this is %d: %v", said, count, err)
		}
	}
}
