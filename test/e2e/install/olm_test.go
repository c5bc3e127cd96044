package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/released"
)

// movedTo is the namespace that OLM installs the operator in, by the name that the document gives it.
const movedTo = "my-namespace"

// moving is the section of the document about moves.
const moving = "Move to another namespace"

// TestToOLM installs a release by YAML or Helm, and moves to the next one by OLM, in the order that the document has for each: the clusters
// know nothing of it, the operator carries out an edit, and all that OLM installs is there. In another namespace nothing is left that checks
// what that operator does as if it were a user.
func TestToOLM(t *testing.T) {
	for name, move := range map[string]struct {
		to       string
		installs func(*story)
		moves    func(*story, *clusters)
	}{
		"YAML":          {movedTo, byYAML, fromYAML},
		"Helm":          {movedTo, byHelm, fromHelm},
		"YAML in place": {harness.OperatorNamespace, byYAML, fromYAMLInPlace},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			s.startsOLM()
			s.namespace("install-busy")
			s.namespace("install-idle")
			move.installs(s)
			s.leads(this, 1)
			c := s.clusters("install-busy", "install-idle")
			c.through("moved to OLM", func() {
				move.moves(s, c)
				s.installed = move.to
				s.leads(next, 1)
				c.asks(3)
				c.grown(s.image(next))
			})
			s.allowed()
			s.complete(next)
			if move.to == harness.OperatorNamespace {
				s.types(next, s.path, s.commands("autopilot.md", "How far it goes", "helm upgrade", "helm ", "  --set-string"))
				s.isOff()
				s.types(next, s.path, s.commands("install.md", "Uninstall", "delete subscription"))
				s.gone()
			}
		})
	}
}

func byYAML(s *story) { s.applies(this) }
func byHelm(s *story) { s.installs(this, s.beside(this)) }

// fromYAML installs the operator once more while the former one acts, and removes that one.
func fromYAML(s *story, c *clusters) {
	s.t.Helper()
	s.subscribes(next, movedTo)
	s.standsBack(c.busy)
	s.deletes()
	s.types(next, s.path, s.commands("install.md", moving, "kubectl delete clusterrolebinding"))
	s.types(next, s.path, s.commands("install.md", moving, "grep /etcd-operator-"))
	s.exempts()
}

// fromHelm uninstalls the release first.
func fromHelm(s *story, _ *clusters) {
	s.t.Helper()
	s.types(this, s.path, s.commands("install.md", "Uninstall", "helm uninstall"))
	s.gone()
	s.subscribes(next, movedTo)
	s.exempts()
}

// fromYAMLInPlace removes the former operator first, whose policies exempt the new one, too.
func fromYAMLInPlace(s *story, _ *clusters) {
	s.t.Helper()
	s.deletes()
	s.subscribes(next, harness.OperatorNamespace)
}

// deletes removes an operator that was installed by YAML.
func (s *story) deletes() {
	s.t.Helper()
	s.types(this, s.path, s.commands("install.md", "Uninstall", "delete deployment"))
	s.gone()
}

// exempts applies the policies for an operator that OLM has installed in another namespace than the document's. They would check what later ones do.
func (s *story) exempts() {
	s.t.Helper()
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := s.Run(ctx, "delete", "--ignore-not-found", "-k", filepath.Join(next.Tree, "config", "admission")); err != nil {
			s.t.Error(err)
		}
	})
	s.types(next, next.Tree, s.commands("install.md", "With OLM", "kubectl kustomize config/admission"))
}

// startsOLM has OLM run, and ends the story without what it has of the operator.
func (s *story) startsOLM() {
	s.t.Helper()
	_, err := nodes.OLM().Start(s.t.Context(), os.Stderr)
	must(s.t, err)
	must(s.t, v1alpha1.AddToScheme(env.Scheme()))
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
		defer cancel()
		if s.t.Failed() {
			csvs, err := s.csvs(ctx, s.installed)
			s.t.Logf("%s, %v", csvs, err)
		}
		if _, err := os.Stat(s.olm()); err != nil {
			return // nothing was subscribed to
		}
		if err := s.Run(ctx, "delete", "--ignore-not-found", wait, "-f", s.olm()); err != nil {
			s.t.Error(err)
		}
	})
}

// olm is the path of olm.yaml.
func (s *story) olm() string { return filepath.Join(s.path, "olm.yaml") }

// subscribes saves the document's olm.yaml, for a namespace and the catalog of a release by its digest, applies it, and waits until the release
// is installed.
func (s *story) subscribes(to released.Release, namespace string) {
	s.t.Helper()
	blocks, err := s.Blocks("install.md", "With OLM", "yaml")
	must(s.t, err)
	catalog, err := to.Image("etcd-operator-catalog")
	must(s.t, err)
	text := blocks[0]
	for old, other := range map[string]string{
		harness.OperatorNamespace:                            namespace,
		"ghcr.io/etcdpilot/etcd-operator-catalog:latest":     catalog,
		"  updateStrategy: {registryPoll: {interval: 1h}}\n": "",
	} {
		if !strings.Contains(text, old) {
			s.t.Fatalf("olm.yaml in the document has no %q: %s", old, text)
		}
		text = strings.ReplaceAll(text, old, other)
	}
	must(s.t, os.WriteFile(s.olm(), []byte(text), 0o600))
	s.types(to, s.path, s.commands("install.md", "With OLM", "kubectl apply -f olm.yaml", "kubectl -n ", "kubectl get ", "kubectl apply -f config/"))
	want := fmt.Sprintf("etcd-operator.v%s is %s", to.Version, v1alpha1.CSVPhaseSucceeded)
	must(s.t, harness.Await(s.t.Context(), want, 2*limit, func(ctx context.Context) (string, bool) {
		seen, err := s.csvs(ctx, namespace)
		return fmt.Sprintf("%s, %v", seen, err), err == nil && strings.HasPrefix(seen, want)
	}))
	looks := s.commands("install.md", "With OLM", "kubectl apply -f olm.yaml", "kubectl apply -f ")
	s.types(to, s.path, strings.ReplaceAll(looks, harness.OperatorNamespace, namespace))
}

// csvs says what OLM has installed.
func (s *story) csvs(ctx context.Context, namespace string) (seen string, err error) {
	list := &v1alpha1.ClusterServiceVersionList{}
	err = s.List(ctx, list, client.InNamespace(namespace))
	for _, c := range list.Items {
		seen += fmt.Sprintf("%s is %s (%s: %s) ", c.Name, c.Status.Phase, c.Status.Reason, c.Status.Message)
	}
	return seen, err
}

// standsBack waits until one of two operators says that it leaves a cluster to the other.
func (s *story) standsBack(c *harness.Cluster) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "the second operator stands back", limit, func(ctx context.Context) (string, bool) {
		events, err := s.Kube.EventsV1().Events(c.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error(), false
		}
		seen := ""
		for _, event := range events.Items {
			seen += event.Reason + " "
			if event.Regarding.Name == c.Name && event.Reason == v1beta2.ReasonOperatedByAnother && strings.Contains(event.Note, movedTo) {
				return event.Note, true
			}
		}
		return seen, false
	}))
}

// complete wants all that the bundle has for people to be there, and the policies to exempt the operator where it is by now, and no other.
func (s *story) complete(of released.Release) {
	s.t.Helper()
	roles, err := filepath.Glob(filepath.Join(of.Tree, "bundle", "manifests", "*_clusterrole.yaml"))
	must(s.t, err)
	if len(roles) == 0 {
		s.t.Errorf("the bundle of %s has no ClusterRole", of.Version)
	}
	for _, role := range roles {
		if err := s.Run(s.t.Context(), "get", "-f", role); err != nil {
			s.t.Error(err)
		}
	}
	const policies = `kubectl get validatingadmissionpolicy -l app.kubernetes.io/name=etcd-operator ` +
		`-o jsonpath='{range .items[*]}{.metadata.name} {.spec.matchConditions[?(@.name=="not-the-operator")].expression}{"\n"}{end}'`
	lines := slices.Collect(strings.Lines(s.types(of, s.path, policies)))
	checks := slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(line, "'"+s.installed+"'") })
	if len(lines) == 0 || checks {
		s.t.Errorf("not all policies exempt the operator in %s: %q", s.installed, lines)
	}
}
