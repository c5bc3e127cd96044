package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/released"
)

// TestHelm installs a release by its chart in the registry, upgrades to the next one with a value, rolls back a value that does not work, goes back to the former chart
// and forth again, and uninstalls: the clusters know nothing of it. The edit of a cluster meanwhile is carried out once the operator is installed again.
func TestHelm(t *testing.T) {
	s := begin(t)
	s.namespace("install-busy")
	s.namespace("install-idle")
	to := s.pulls(next)
	s.types(this, s.path, s.commands("install.md", "Helm", "helm install etcd-operator oci://"), s.registry()...)
	s.leads(this, 1)
	c := s.clusters("install-busy", "install-idle")
	c.upgrades(next, 2, func() { s.types(next, to, s.commands("install.md", "Helm", "--set replicas=2")) })
	c.through("upgraded without a value", func() {
		s.types(next, to, s.commands("install.md", "Upgrade", "helm upgrade"))
		s.leads(next, 2) // as before: the values are kept
	})
	c.through("Auto Pilot switched off", func() {
		s.types(next, to, s.commands("autopilot.md", "How far it goes", "helm upgrade", "kubectl "))
		s.isOff()
		s.leads(next, 2)
	})
	c.through("rolled back", func() { s.rollsBack(next, to) })
	c.through("rolled back to the former chart", func() { s.rollsBackTo(c, "1", 1) })
	c.through("upgraded once more", func() {
		s.types(next, to, s.commands("install.md", "Helm", "--set replicas=2"))
		s.leads(next, 2)
	})
	s.comesBack(c, to)
}

// isOff waits until the operator's Deployment tells it that Auto Pilot is off.
func (s *story) isOff() {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "the operator is told AUTOPILOT=Off", limit, func(ctx context.Context) (string, bool) {
		deployment, err := s.Kube.AppsV1().Deployments(s.installed).Get(ctx, "etcd-operator-controller-manager", metav1.GetOptions{})
		if err != nil {
			return err.Error(), false
		}
		told := deployment.Spec.Template.Spec.Containers[0].Env
		return fmt.Sprintf("it is told %v", told), slices.Contains(told, corev1.EnvVar{Name: "AUTOPILOT", Value: "Off"})
	}))
}

// TestFromYAMLToHelm installs a release by YAML and the next one by Helm, which takes over what it finds, and keeps the CRDs when it is
// uninstalled, like those of its own.
func TestFromYAMLToHelm(t *testing.T) {
	s := begin(t)
	s.namespace("install-busy")
	s.namespace("install-idle")
	to := s.pulls(next)
	s.applies(this)
	s.leads(this, 1)
	c := s.clusters("install-busy", "install-idle")
	c.upgrades(next, 1, func() { s.installs(next, to, "--take-ownership") })
	s.comesBack(c, to)
}

// pulls gets the chart of a release from the registry, and compares it with the release's checksums. It is in dist of the folder.
func (s *story) pulls(r released.Release) (folder string) {
	s.t.Helper()
	folder = s.t.TempDir()
	dist := filepath.Join(folder, "dist")
	must(s.t, os.Mkdir(dist, 0o700))
	must(s.t, os.Symlink(r.File("SHA256SUMS"), filepath.Join(dist, "SHA256SUMS")))
	out := s.types(r, dist, s.commands("release.md", "Verify", "helm pull"), s.registry()...)
	if !strings.Contains(out, "etcd-operator-"+r.Version+".tgz: OK\n") {
		s.t.Errorf("the chart of %s is not verified: %s", r.Version, out)
	}
	return folder
}

// registry has a command find the charts and images of a release in the lab's registry, by the names that they are published under.
func (s *story) registry() (variables []string) {
	s.t.Helper()
	found, err := nodes.RegistryEnvironment()
	must(s.t, err)
	for name, value := range found {
		variables = append(variables, name+"="+value)
	}
	return variables
}

// installs installs the chart's file, with more flags.
func (s *story) installs(r released.Release, folder string, flags ...string) {
	s.t.Helper()
	commands := s.commands("install.md", "Helm", "helm install etcd-operator dist/", "make ")
	const last = "--create-namespace"
	if strings.Count(commands, last+"\n") != 1 {
		s.t.Fatalf("there is no one place for more flags in %s", commands)
	}
	s.types(r, folder, strings.Replace(commands, last, strings.Join(append([]string{last}, flags...), " "), 1))
}

// rollsBack upgrades to a value with which no new operator starts, and back: the CRDs are of the same release, and stay as they are.
func (s *story) rollsBack(r released.Release, folder string) {
	s.t.Helper()
	before := s.crds()
	s.types(r, folder, s.commands("install.md", "Upgrade", "helm upgrade")+" --set image.tag=none")
	must(s.t, harness.Await(s.t.Context(), "an operator cannot start", limit, func(ctx context.Context) (string, bool) {
		pods, err := s.Operators(ctx, harness.OperatorNamespace)
		return fmt.Sprintf("%d operators, %v", len(pods), err), slices.ContainsFunc(pods, waitsForImage)
	}))
	s.types(r, folder, "helm rollback etcd-operator --namespace "+harness.OperatorNamespace)
	s.leads(r, 2)
	s.sameCRDs("rolled back", before)
}

// rollsBackTo goes back to a former revision of Helm's, which is of the release before: its operator acts, and carries out an edit.
func (s *story) rollsBackTo(c *clusters, revision string, replicas int) {
	s.t.Helper()
	s.types(this, s.path, "helm rollback etcd-operator "+revision+" --namespace "+harness.OperatorNamespace)
	s.leads(this, replicas)
	must(s.t, c.busy.Edit(s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Pod.Labels = map[string]string{"seen": "rolled-back"} }))
	c.settled()
}

func waitsForImage(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && slices.Contains([]string{"ErrImagePull", "ImagePullBackOff"}, c.State.Waiting.Reason)
	})
}

// uninstalls removes the operator below the clusters, and edits one of them where nobody sees it.
func (s *story) uninstalls(c *clusters) {
	s.t.Helper()
	before := s.crds()
	c.through("uninstalled", func() {
		s.types(next, s.path, s.commands("install.md", "Uninstall", "helm uninstall"))
		s.gone()
		c.asks(5)
	})
	s.sameCRDs("uninstalled", before)
}

// comesBack uninstalls the next release and installs it again: the edit that nobody saw is carried out.
func (s *story) comesBack(c *clusters, folder string) {
	s.t.Helper()
	s.uninstalls(c)
	c.through("installed again", func() {
		s.installs(next, folder)
		s.leads(next, 1)
		c.settled()
	})
	s.allowed()
}

// crds are the operator's CRDs, with what changes when one is replaced or edited.
func (s *story) crds() string {
	s.t.Helper()
	return s.types(next, s.path, `kubectl get crd -o jsonpath='{range .items[*]}{.metadata.name} {.metadata.uid} {.metadata.generation} {.metadata.deletionTimestamp}{"\n"}{end}' | grep etcd.database.coreos.com`)
}

func (s *story) sameCRDs(what, before string) {
	s.t.Helper()
	if after := s.crds(); after != before {
		s.t.Errorf("%s: the CRDs were\n%sand are\n%s", what, before, after)
	}
}
