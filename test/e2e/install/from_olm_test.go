package install

import (
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestFromOLM installs a release by OLM, in another namespace than the document's, and moves to the next one by YAML or Helm, in the order that
// the document has: the new operator stands back until the old one is removed, the clusters know nothing of it, and no policy is left that checks
// what the new operator does as if it were a user.
func TestFromOLM(t *testing.T) {
	for name, installs := range map[string]func(*story){
		"YAML": func(s *story) { s.appliesOver() },
		"Helm": func(s *story) { s.installs(next, s.beside(next), "--take-ownership") },
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			s.startsOLM()
			s.namespace("install-busy")
			s.namespace("install-idle")
			s.subscribes(this, movedTo)
			s.exempts()
			s.installed = movedTo
			s.leads(this, 1)
			c := s.clusters("install-busy", "install-idle")
			c.through("moved from OLM", func() {
				installs(s)
				s.standsBack(c.busy)
				s.unsubscribes(movedTo)
				s.types(next, next.Tree, s.commands("install.md", moving, "kubectl delete -k config/admission"))
				s.installed = harness.OperatorNamespace
				s.leads(next, 1)
				c.asks(3)
				c.grown(s.image(next))
			})
			s.allowed()
			s.complete(next)
		})
	}
}

// appliesOver applies the manifests of the next release where others have written fields of the same objects.
func (s *story) appliesOver() {
	s.t.Helper()
	commands := s.commands("install.md", "YAML", "releases/download")
	const apply = "kubectl apply --server-side"
	if strings.Count(commands, apply) != 1 {
		s.t.Fatalf("there is no one place for --force-conflicts in %s", commands)
	}
	s.types(next, s.path, strings.Replace(commands, apply, apply+" --force-conflicts", 1))
}

// unsubscribes removes an operator that OLM has installed in a namespace.
func (s *story) unsubscribes(namespace string) {
	s.t.Helper()
	s.types(this, s.path, strings.ReplaceAll(s.commands("install.md", "Uninstall", "delete subscription"), harness.OperatorNamespace, namespace))
	s.gone()
}

// TestFromHelmToYAML installs a release by Helm, removes it, and installs the next one by YAML in the same namespace, as the document has it: the
// edit of a cluster that nobody saw in between is carried out.
func TestFromHelmToYAML(t *testing.T) {
	s := begin(t)
	s.namespace("install-busy")
	s.namespace("install-idle")
	s.installs(this, s.pulls(this))
	s.leads(this, 1)
	c := s.clusters("install-busy", "install-idle")
	before := s.crds()
	c.through("moved from Helm", func() {
		s.types(this, s.path, s.commands("install.md", "Uninstall", "helm uninstall"))
		s.gone()
		s.sameCRDs("uninstalled", before)
		c.asks(3)
		s.appliesOver()
		s.leads(next, 1)
		c.grown(s.image(next))
	})
	s.allowed()
	s.complete(next)
}
