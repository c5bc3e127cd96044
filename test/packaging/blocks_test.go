package packaging

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

// world is what a mark above a block may say that it needs: what no test has. Programs are called by the name of their command.
var world = []string{
	"GitHub", "Java", "Prometheus", "Prometheus Operator", "Python", "age", "age-keygen", "cert-manager", "cosign", "crane", "docker", "jq", "kind",
	"kube-prometheus-stack", "minikube", "skopeo", "zstd",
}

// TestDocumentBlocks wants every fenced block of the documents to be something that a reader can use. Manifests are given to an API
// server, commands to the programs that they call, and what programs print is what a test compares with it. What a block needs that
// no test has is in a mark above it, and in no mark that is not needed.
func TestDocumentBlocks(t *testing.T) {
	shelf := newShelf(t)
	texts := texts(t)
	for _, document := range slices.Sorted(maps.Keys(texts)) {
		for _, block := range documents.Blocks(document, texts[document]) {
			t.Run(fmt.Sprintf("%s:%d", document, block.Line), func(t *testing.T) {
				t.Parallel()
				p := &page{T: t, shelf: shelf, text: texts[document], block: block, used: map[string]bool{}}
				p.check()
				p.marks()
			})
		}
	}
}

// page is a block, the document that it is in, and what to judge it by.
type page struct {
	*testing.T
	*shelf
	text  string
	block documents.Block
	// used are the words of the mark that something in the block needs.
	used map[string]bool
}

func (p *page) check() {
	p.Helper()
	switch p.block.Language {
	case "sh", "bash":
		p.commands(p.block.Text)
	case "yaml":
		p.manifests(p.block.Text)
	case "go":
		p.source()
	case "promql":
		p.query()
	case "":
		p.session()
	default:
		p.unknown("what is in this block")
	}
}

// unknown is for what no test can judge: the mark has to say so.
func (p *page) unknown(what string) {
	p.Helper()
	if len(p.block.Needs) == 0 {
		p.Errorf("nothing here can tell whether %s works: is there a mark missing?", what)
	}
	for _, need := range p.block.Needs {
		p.used[need] = true
	}
}

// needs wants the mark to name what the block needs.
func (p *page) needs(what, who string) {
	p.Helper()
	if !slices.Contains(p.block.Needs, what) {
		p.Errorf("%s needs %s, and no mark says so", who, what)
	}
	p.used[what] = true
}

func (p *page) marks() {
	p.Helper()
	for _, need := range p.block.Needs {
		if !slices.Contains(world, need) {
			p.Errorf("the mark says %q, which is none of %q", need, world)
		} else if !p.used[need] {
			p.Errorf("the mark says %s, and nothing in the block needs it", need)
		}
	}
}

// session judges a block of what a program prints: the commands behind a $, and what a test compares with what they print.
func (p *page) session() {
	p.Helper()
	var known []string
	for line := range strings.Lines(p.block.Text) {
		command, found := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !found {
			continue
		}
		p.commands(command)
		for _, call := range []string{"documented.Shows", "documented.Alike"} {
			if slices.ContainsFunc(p.tests, func(test string) bool {
				return strings.Contains(test, call) && strings.Contains(test, fmt.Sprintf("%q", command))
			}) {
				known = append(known, command)
			}
		}
	}
	if len(known) == 0 && !slices.ContainsFunc(compared, p.is) {
		p.Error("no test compares this with what a command prints: say with $ what prints it, or in which language it is")
	}
}
