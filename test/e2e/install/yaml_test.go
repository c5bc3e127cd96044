package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/released"
)

// TestYAML installs a release by its install.yaml, restricts it to the namespace of one of two clusters, upgrades to the next one by what make build-installer writes, and
// has that look after all of them again. Then it looks at a cluster by the release's plugin of kubectl.
func TestYAML(t *testing.T) {
	s := begin(t)
	s.verifies(this)
	s.verifies(next)
	s.namespace("install-busy")
	s.namespace("install-idle")
	s.applies(this)
	s.leads(this, 1)
	c := s.clusters("install-busy", "install-idle")
	restricts := s.commands("install.md", "YAML", "olm.targetNamespaces")
	c.through("restricted", func() {
		s.restricts(this, strings.ReplaceAll(restricts, "shop,billing", "install-busy"))
		c.asks(3)
		c.oneSided("restricted")
	})
	built := s.commands("install.md", "YAML", "dist/install.yaml", "make ")
	c.upgrades(next, 1, func() {
		s.types(next, s.beside(next), built)
		s.leads(next, 1)
		c.oneSided("upgraded")
		s.restricts(next, strings.ReplaceAll(restricts, `"shop,billing"`, "null"))
	})
	s.plugs(next)
	out := s.types(next, t.TempDir(), "kubectl etcd status busy -n install-busy")
	if !strings.Contains(out, "3/3 ready") {
		t.Errorf("kubectl etcd says of a cluster of three: %s", out)
	}
}

// restricts changes which namespaces the operator watches, and waits until one acts that has been told.
func (s *story) restricts(of released.Release, commands string) {
	s.t.Helper()
	before := s.operators()
	s.types(of, s.path, commands)
	must(s.t, harness.Await(s.t.Context(), "the operator is told", limit, func(context.Context) (string, bool) {
		now := s.operators()
		told := len(now) > 0 && !slices.ContainsFunc(now, func(uid string) bool { return slices.Contains(before, uid) })
		return fmt.Sprintf("the operators were %q and are %q", before, now), told
	}))
	s.leads(of, 1)
}

// oneSided wants the operator to carry out an edit of the busy cluster, and nothing of one that the idle cluster has had before: not even its
// status says that it was seen.
func (c *clusters) oneSided(label string) {
	c.s.t.Helper()
	ctx := c.s.t.Context()
	must(c.s.t, c.busy.Edit(ctx, func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Labels = map[string]string{"seen": label} }))
	must(c.s.t, c.busy.Settled(ctx, limit))
	busy, err := c.busy.Pods(ctx)
	must(c.s.t, err)
	for _, p := range busy {
		if p.Labels["seen"] != label {
			c.s.t.Errorf("%s is not looked after: its labels are %v", p.Name, p.Labels)
		}
	}
	idle, err := c.idle.Get(ctx)
	must(c.s.t, err)
	pods, err := c.idle.Pods(ctx)
	must(c.s.t, err)
	if idle.Status.ObservedGeneration >= idle.Generation || len(pods) != 1 {
		c.s.t.Errorf("%s is looked after, and in no namespace of the list: it has %d pods, and generation %d of %d was seen", idle.Name, len(pods),
			idle.Status.ObservedGeneration, idle.Generation)
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
