package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

// TestChartPage wants the packed chart to have what a site of charts shows of it.
func TestChartPage(t *testing.T) {
	h := newHelm(t)
	var chart struct {
		Home, Icon  string
		Sources     []string
		Maintainers []struct{ Name, URL string }
	}
	if err := yaml.Unmarshal([]byte(h.show(t, "chart")), &chart); err != nil {
		t.Fatal(err)
	}
	if chart.Home == "" || chart.Icon == "" || len(chart.Sources) == 0 || len(chart.Maintainers) == 0 {
		t.Errorf("the chart does not say where it comes from, and who maintains it: %+v", chart)
	}
	for _, m := range chart.Maintainers {
		wantInTree(t, m.URL)
	}
	wantInTree(t, strings.Replace(chart.Icon, "raw.githubusercontent.com/etcdpilot/etcd-operator/", "github.com/etcdpilot/etcd-operator/blob/", 1))
	readme := h.show(t, "readme")
	for _, link := range documents.Links(readme) {
		wantInTree(t, link)
	}
	blocks := documents.Blocks("README.md", readme)
	if len(blocks) != 2 {
		t.Fatalf("the chart's README has %d blocks of commands, want one to install and one to upgrade", len(blocks))
	}
	// The stories run the commands of docs/install.md, with the chart of a version.
	const published = "oci://ghcr.io/etcdpilot/charts/etcd-operator"
	told := strings.NewReplacer(published+" --version "+releaseVersion(t), published, "dist/etcd-operator-"+releaseVersion(t)+".tgz", published).Replace(string(read(t, "docs/install.md")))
	for _, block := range blocks {
		for command := range strings.Lines(block.Text) {
			if !strings.Contains(told, "\n"+command) {
				t.Errorf("docs/install.md lacks the command %s", command)
			}
		}
	}
}

// show is what Helm shows of the packed chart.
func (h helm) show(t *testing.T, what string) string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), h.program, "show", what, h.chart).Output()
	if err != nil {
		t.Fatalf("helm show %s: %v", what, err)
	}
	return string(text)
}

// wantInTree wants an address to be that of a file of this repository, and its fragment that of a title there.
func wantInTree(t *testing.T, address string) {
	t.Helper()
	const repository = "https://github.com/etcdpilot/etcd-operator"
	name, found := strings.CutPrefix(address, repository)
	if !found {
		t.Errorf("%s leads out of the repository, or is relative, and the chart is read elsewhere", address)
		return
	}
	name, fragment, _ := strings.Cut(name, "#")
	if name = strings.TrimPrefix(name, "/blob/main/"); name == "" {
		name = "README.md"
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Errorf("%s leads to no file: %v", address, err)
	} else if fragment != "" && !documents.Anchors(string(text))[fragment] {
		t.Errorf("%s leads to no title of %s", address, name)
	}
}
