package stories

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// promptLimit is how long a block of commands may take: they wait for several things themselves.
const promptLimit = 20 * time.Minute

// prompt is where a reader types the commands of a document.
type prompt struct {
	*story
	// at has kubectl by that name in its path, and a kubeconfig that names the story's namespace.
	at harness.Prompt
}

// promptFor makes one in a namespace of its own, where commands create a cluster of that name: its kubectl works there.
func promptFor(t *testing.T, title, name string) *prompt {
	t.Helper()
	namespace := "story-" + title
	must(t, harness.Await(t.Context(), "the namespace of an earlier run is gone", limit, absent(namespace)))
	must(t, env.Namespace(t.Context(), namespace))
	cluster := &harness.Cluster{Env: env, Namespace: namespace, Name: name}
	t.Cleanup(func() {
		if t.Failed() {
			describe(t, cluster)
		}
		deleteNamespace(t, namespace)
	})
	return (&story{Cluster: cluster, t: t}).reader()
}

// reader is a prompt at which somebody types commands about the story's cluster: its kubectl works in that namespace.
func (s *story) reader() *prompt {
	s.t.Helper()
	p := &prompt{story: s, at: harness.Prompt{Folder: s.t.TempDir(), Path: s.t.TempDir()}}
	p.finds("kubectl", env.Kubectl)
	p.at.Kubeconfig = filepath.Join(p.at.Path, "kubeconfig")
	must(s.t, os.WriteFile(p.at.Kubeconfig, s.kubectl("config", "view", "--raw", "--flatten", "--minify"), 0o600))
	p.runs("kubectl config set-context --current --namespace=" + s.Namespace)
	return p
}

// commands is the only block of commands with a text in a section of a document, but for the lines that begin with one of these. The words
// that a reader is to replace are those of the story's cluster. test/packaging reads from these calls which blocks are run.
func (s *story) commands(document, section, having string, without ...string) string {
	s.t.Helper()
	block, err := env.Commands(document, section, having, without...)
	must(s.t, err)
	return strings.NewReplacer("NAMESPACE", s.Namespace, "NAME", s.Name).Replace(block)
}

// readerWithPlugin is a reader who has kubectl's plugin, which is in a folder, and etcdctl.
func (s *story) readerWithPlugin(plugins string) *prompt {
	s.t.Helper()
	r := s.reader()
	r.findsPlugin(plugins)
	return r
}

// findsPlugin has kubectl's plugin, which is in a folder, and etcdctl be found.
func (p *prompt) findsPlugin(plugins string) {
	p.t.Helper()
	p.finds("kubectl-etcd", filepath.Join(plugins, "kubectl-etcd"))
	p.finds("etcdctl", builtEtcdctl(p.t))
}

// finds has a program be found by a name.
func (p *prompt) finds(name, program string) {
	p.t.Helper()
	must(p.t, os.Symlink(program, filepath.Join(p.at.Path, name)))
}

// builtEtcdctl is the path of the etcdctl that hack/tools pins, which is built first if need be.
func builtEtcdctl(t *testing.T) string {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", "run", ".", "etcd36/etcdctl")
	build.Dir, build.Stderr = filepath.Join(env.Root, "hack", "tool"), os.Stderr
	path, err := build.Output()
	must(t, err)
	return strings.TrimSpace(string(path))
}

// saves writes a file that the document has the reader save.
func (p *prompt) saves(name, text string) {
	p.t.Helper()
	must(p.t, os.WriteFile(filepath.Join(p.at.Folder, name), []byte(text), 0o600))
}

// runs runs commands, and returns what they print.
func (p *prompt) runs(commands string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), promptLimit)
	defer cancel()
	start := time.Now()
	out, err := p.at.Run(ctx, commands)
	p.t.Logf("%s\n%s(%.1f s)", commands, out, time.Since(start).Seconds())
	if err != nil {
		p.t.Fatalf("these commands do not work: %v\n%s\n%s", err, commands, out)
	}
	return out
}
