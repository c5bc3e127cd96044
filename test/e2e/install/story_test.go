package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/released"
)

// story is one way to install the operator, on a Kubernetes that has nothing of it, before and after.
type story struct {
	*harness.Env
	t *testing.T
	// path has kubectl and helm, and helm's own files.
	path string
	// kubeconfig is the one that commands use.
	kubeconfig string
	// installed is the namespace that the operator is in.
	installed string
}

func begin(t *testing.T) *story {
	t.Helper()
	s := &story{Env: env, t: t, path: t.TempDir(), kubeconfig: env.Kubeconfig, installed: harness.OperatorNamespace}
	must(t, os.Symlink(env.Kubectl, filepath.Join(s.path, "kubectl")))
	if helm != "" {
		must(t, os.Symlink(helm, filepath.Join(s.path, "helm")))
	}
	must(t, s.removeAll(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*limit)
		defer cancel()
		if t.Failed() {
			t.Log(s.OperatorFailure(ctx, s.installed))
		}
		if err := s.removeAll(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// commands is the only block of commands with a text in a section of a document, without the lines that begin with one of these: what the
// files of a release spare, or what was done before.
func (s *story) commands(document, section, having string, without ...string) string {
	s.t.Helper()
	block, err := s.Commands(document, section, having, without...)
	must(s.t, err)
	return block
}

var (
	// versioned is where commands of the documents have a version.
	versioned = regexp.MustCompile(`(etcd-operator-|--version )\d+\.\d+\.\d+\b`)
	// page is where they have the files of a release.
	page = regexp.MustCompile(`https://github\.com/etcdpilot/etcd-operator/releases/download/v\d+\.\d+\.\d+/`)
)

// types runs commands in a folder, for the version of a release and with its files, and returns what they print.
func (s *story) types(r released.Release, folder, commands string, variables ...string) string {
	s.t.Helper()
	return s.typesWithin(limit, r, folder, commands, variables...)
}

// typesWithin is types of commands that may take longer than any other.
func (s *story) typesWithin(limit time.Duration, r released.Release, folder, commands string, variables ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	commands = page.ReplaceAllLiteralString(versioned.ReplaceAllString(commands, "${1}"+r.Version), r.Folder()+"/")
	start := time.Now()
	prompt := harness.Prompt{Folder: folder, Path: s.path, Kubeconfig: s.kubeconfig, Env: append(variables,
		"HELM_CACHE_HOME="+s.path, "HELM_CONFIG_HOME="+s.path, "HELM_DATA_HOME="+s.path)}
	out, err := prompt.Run(ctx, commands)
	s.t.Logf("%s\n%s(%.1f s)", commands, out, time.Since(start).Seconds())
	if err != nil {
		s.t.Fatalf("these commands do not work: %v\n%s\n%s", err, commands, out)
	}
	return out
}

// worksIn has commands that name no namespace be about this one.
func (s *story) worksIn(namespace string) {
	s.t.Helper()
	const name = "kubeconfig"
	s.types(this, s.path, "umask 077; kubectl config view --raw --flatten --minify > "+name)
	s.kubeconfig = filepath.Join(s.path, name)
	s.types(this, s.path, "kubectl config set-context --current --namespace="+namespace)
}

// beside is a folder whose dist has the files of a release, as the documents have it.
func (s *story) beside(r released.Release) (folder string) {
	s.t.Helper()
	folder = s.t.TempDir()
	must(s.t, os.Symlink(r.Folder(), filepath.Join(folder, "dist")))
	return folder
}

// image is that of a release's operator.
func (s *story) image(r released.Release) string {
	s.t.Helper()
	image, err := r.Image("etcd-operator")
	must(s.t, err)
	return image
}

// leads waits until an operator of a release acts, and so many of it are there, and no other.
func (s *story) leads(r released.Release, replicas int) {
	s.t.Helper()
	s.leadsAs(s.image(r), r, replicas)
}

// leadsAs is leads, of a release whose operator is asked for by that name of its image.
func (s *story) leadsAs(image string, r released.Release, replicas int) {
	s.t.Helper()
	s.acts(image, fmt.Sprintf("%q:%q", "version", "v"+r.Version), replicas)
}

// acts waits until an operator of an image acts, whose log has a text, and so many of it are there, and no other.
func (s *story) acts(image, says string, replicas int) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "the operator "+image+" leads", limit, func(ctx context.Context) (string, bool) {
		pods, err := s.Operators(ctx, s.installed)
		others := slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Spec.Containers[0].Image != image })
		if err != nil || len(pods) != replicas || others {
			return fmt.Sprintf("%d operators, some of them others than %s: %t, %v", len(pods), image, others, err), false
		}
		leader, err := s.ActingOperator(ctx, s.installed)
		said, more := s.OperatorLogs(ctx, s.installed)
		leads := slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Name == leader })
		return fmt.Sprintf("%q leads, %v, %v", leader, err, more), leads && strings.Contains(said, says)
	}))
}

// gone waits until there is no operator.
func (s *story) gone() {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "no operator is left", limit, func(ctx context.Context) (string, bool) {
		pods, err := s.Operators(ctx, s.installed)
		return fmt.Sprintf("%d operators, %v", len(pods), err), err == nil && len(pods) == 0
	}))
}
