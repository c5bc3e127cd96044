package install

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/released"
)

// TestYAML installs a release by its install.yaml, upgrades to the next one by what make build-installer writes, and looks at a cluster by the release's plugin of kubectl.
func TestYAML(t *testing.T) {
	s := begin(t)
	s.verifies(this)
	s.verifies(next)
	s.namespace("install-busy")
	s.namespace("install-idle")
	s.applies(this)
	s.leads(this, 1)
	c := s.clusters("install-busy", "install-idle")
	built := s.commands("install.md", "YAML", "dist/install.yaml", "make ")
	c.upgrades(next, 1, func() { s.types(next, s.beside(next), built) })
	s.plugs(next)
	out := s.types(next, t.TempDir(), "kubectl etcd status busy -n install-busy")
	if !strings.Contains(out, "3/3 ready") {
		t.Errorf("kubectl etcd says of a cluster of three: %s", out)
	}
}

// verifies compares the files of a release with their checksums. What is rehearsed is not signed.
func (s *story) verifies(r released.Release) {
	s.t.Helper()
	out := s.types(r, r.Folder(), s.commands("release.md", "Verify", "cosign verify-blob", "cosign "))
	for _, file := range []string{"install.yaml", "install-namespaced.yaml", "etcd-operator-" + r.Version + ".tgz", s.plugin(r)} {
		if !strings.Contains(out, file+": OK\n") {
			s.t.Errorf("%s is not verified: %s", file, out)
		}
	}
}

// applies applies the release's manifests for all namespaces, as from its page.
func (s *story) applies(r released.Release) {
	s.t.Helper()
	s.types(r, s.path, s.commands("install.md", "YAML", "releases/download"))
}

// plugin is the archive of kubectl's plugin.
func (s *story) plugin(r released.Release) string {
	return "kubectl-etcd_v" + r.Version + "_linux_" + runtime.GOARCH + ".tar.gz"
}

// plugs puts the plugin where kubectl looks for it.
func (s *story) plugs(r released.Release) {
	s.t.Helper()
	s.types(r, s.path, "tar -xzf "+r.File(s.plugin(r)))
	if _, err := os.Stat(filepath.Join(s.path, "kubectl-etcd")); err != nil {
		s.t.Error(err)
	}
}

// TestYAMLForItsNamespace installs a release by its install-namespaced.yaml, which is for the operator's own namespace, and upgrades to the
// next one.
func TestYAMLForItsNamespace(t *testing.T) {
	s := begin(t)
	applies := func(r released.Release) {
		s.types(r, s.beside(r), s.commands("install.md", "YAML", "build-namespaced NAMESPACES", "kubectl create ", "make "))
	}
	applies(this)
	s.leads(this, 1)
	s.clusters(harness.OperatorNamespace, harness.OperatorNamespace).upgrades(next, 1, func() { applies(next) })
}

// exampleImage is what the document has in the place of the operator's image.
var exampleImage = regexp.MustCompile(`registry\.example\.com/etcd-operator:v[\d.]+`)

// TestYAMLForSomeNamespaces installs the image of a release for the two namespaces that the document has, by the tree of the release, and
// upgrades to the next one.
func TestYAMLForSomeNamespaces(t *testing.T) {
	s := begin(t)
	applies := func(r released.Release, commands string) {
		s.types(r, r.Tree, exampleImage.ReplaceAllString(commands, s.image(r)))
	}
	s.namespace("shop")
	s.namespace("billing")
	applies(this, s.commands("install.md", "YAML", "build-namespaced NAMESPACES"))
	s.leads(this, 1)
	s.clusters("shop", "billing").upgrades(next, 1, func() {
		applies(next, s.commands("install.md", "YAML", "build-namespaced NAMESPACES", "kubectl create "))
	})
}
