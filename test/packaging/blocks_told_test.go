package packaging

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

// told are blocks that a test reads in their document, and runs, or compares with what it knows.
type told struct {
	document, title, language string
	// test is a function in a folder.
	folder, test string
	// by is how the test finds the block.
	by string
}

const (
	stories  = "test/e2e/stories"
	installs = "test/e2e/install"
)

// ran are the blocks of commands that a story runs on a real Kubernetes. Those of the runbooks are in TestDocumentRunbooks.
var ran = []told{
	{"README.md", "Run a cluster", "sh", stories, "TestReadme", `"Run a cluster"`},
	{"README.md", "Back it up", "sh", stories, "TestReadme", `"Back it up"`},
	{"README.md", "Uninstall", "sh", stories, "TestReadme", `"Uninstall"`},
	{"docs/migrate.md", "Rehearse", "sh", stories, "TestMigrateFromStatefulSet", `"Rehearse"`},
	{"docs/migrate.md", "Cut over", "sh", stories, "TestMigrateFromStatefulSet", `"Cut over"`},
	{"docs/migrate.md", "Way back", "sh", stories, "TestMigrateFromStatefulSet", `"Way back"`},
	{"docs/migrate.md", "Delete the old one", "sh", stories, "TestMigrateFromStatefulSet", `"Delete the old one"`},
	{"docs/install.md", "Three commands", "sh", installs, "TestThreeCommands", `"Three commands", "etcdctl endpoint health"`},
	{"docs/install.md", "YAML", "sh", installs, "TestYAML", `"YAML", "releases/download"`},
	{"docs/install.md", "YAML", "sh", installs, "TestYAML", `"YAML", "dist/install.yaml"`},
	{"docs/install.md", "YAML for some namespaces", "sh", installs, "TestYAMLForItsNamespace", `"YAML", "build-namespaced NAMESPACES"`},
	{"docs/install.md", "YAML for some namespaces", "sh", installs, "TestYAMLForSomeNamespaces", `"YAML", "build-namespaced NAMESPACES"`},
	{"docs/install.md", "Helm", "sh", installs, "TestHelm", `"Helm", "helm install etcd-operator oci://"`},
	{"docs/install.md", "Helm", "sh", installs, "TestHelm", `"Helm", "helm install etcd-operator dist/"`},
	{"docs/install.md", "Helm", "sh", installs, "TestHelm", `"Helm", "--set replicas=2"`},
	{"docs/install.md", "Upgrade", "sh", installs, "TestHelm", `"Upgrade", "helm upgrade"`},
	{"docs/install.md", "Uninstall", "sh", installs, "TestHelm", `"Uninstall", "helm uninstall"`},
	{"docs/install.md", "With OLM", "yaml", installs, "TestToOLM", `"With OLM", "yaml"`},
	{"docs/install.md", "With OLM", "sh", installs, "TestToOLM", `"With OLM", "kubectl apply -f olm.yaml"`},
	{"docs/install.md", "Admission policies", "sh", installs, "TestToOLM", `"With OLM", "kubectl kustomize config/admission"`},
	{"docs/install.md", "Policies of the old operator", "sh", installs, "TestToOLM", `moving, "grep /etcd-operator-"`},
	{"docs/install.md", "Rights of the old operator", "sh", installs, "TestToOLM", `moving, "kubectl delete clusterrolebinding"`},
	{"docs/install.md", "Uninstall", "sh", installs, "TestToOLM", `"Uninstall", "delete deployment"`},
	{"docs/release.md", "Verify", "sh", installs, "TestYAML", `"Verify", "cosign verify-blob"`},
	{"docs/release.md", "Verify", "sh", installs, "TestHelm", `"Verify", "helm pull"`},
}

// compared are the blocks that a test compares with what it knows, and that nothing here can judge.
var compared = []told{
	{"CONTRIBUTING.md", "A decision, explained", "", "hack/replay", "TestExplain", `CONTRIBUTING.md`},
	{"README.md", "Run a cluster", "", stories, "TestReadme", `"kubectl get etcd"`},
	{"docs/observability.md", "By OLM", "yaml", ".", "TestObservabilityByOLM", `monitoring.yaml`},
}

// is reports whether these are the blocks that this one is among.
func (p *page) is(t told) bool {
	return p.block.Document == t.document && p.block.Title == t.title && p.block.Language == t.language
}

// TestDocumentBlocksTold wants the blocks that a test is said to read to be there, and the file of the test to look for them.
func TestDocumentBlocksTold(t *testing.T) {
	texts := texts(t)
	for _, row := range slices.Concat(ran, compared) {
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

// reads reports whether this is the block that the test finds. Of several in a section it looks for the one that has a text.
func (row told) reads(block documents.Block) bool {
	having := strings.Trim(row.by[strings.LastIndex(row.by, ", ")+1:], ` "`)
	return block.Document == row.document && block.Title == row.title && block.Language == row.language &&
		(having == row.title || strings.Contains(block.Text, having))
}

// counted is what CONTRIBUTING.md says of how many blocks there are.
var counted = regexp.MustCompile(`Of about (\d+) blocks a story runs about (\d+), and about (\d+) are marked`)

// TestDocumentBlocksCounted wants CONTRIBUTING.md to tell how much of the documents is run, and how much only looked at, within a tenth: nobody
// is to count anew for each block.
func TestDocumentBlocksCounted(t *testing.T) {
	var all, run, marked int
	texts := texts(t)
	for document, text := range texts {
		for _, block := range documents.Blocks(document, text) {
			all++
			runbook := path.Dir(document) == "docs/runbooks" && block.Language == "sh"
			if runbook || slices.ContainsFunc(ran, func(row told) bool { return row.reads(block) }) {
				run++
			}
			if len(block.Needs) > 0 {
				marked++
			}
		}
	}
	t.Logf("of %d blocks a story runs %d, and %d are marked", all, run, marked)
	said := counted.FindStringSubmatch(texts["CONTRIBUTING.md"])
	if said == nil {
		t.Fatalf("CONTRIBUTING.md does not say %q", counted)
	}
	for i, count := range []int{all, run, marked} {
		if told, err := strconv.Atoi(said[i+1]); err != nil || told*10 < count*9 || told*10 > count*11 {
			t.Errorf("CONTRIBUTING.md says %q, and this is %d: %v", said, count, err)
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

// TestDocumentRunbooks wants a story to run what each runbook has one check and cure, but those of alerts that no story has fire.
func TestDocumentRunbooks(t *testing.T) {
	texts, source := texts(t), testFolders(t)["TestAlerts"][stories]
	for _, part := range []string{`s.commands("Check")`, `s.commands("Cure")`} {
		if !strings.Contains(source, part) {
			t.Errorf("the stories of alerts have no %s: who runs the runbooks?", part)
		}
	}
	for document, text := range texts {
		alert := strings.TrimSuffix(path.Base(document), ".md")
		if path.Dir(document) != "docs/runbooks" || alert == "README" {
			continue
		}
		if !strings.Contains(source, fmt.Sprintf("%q", alert)) {
			t.Errorf("no story has %s fire, so nobody runs %s", alert, document)
		}
		for _, block := range documents.Blocks(document, text) {
			if block.Language == "sh" && block.Title != "Check" && block.Title != "Cure" {
				t.Errorf("%s has commands under %s, where no story looks for them", document, block.Title)
			}
		}
	}
}
