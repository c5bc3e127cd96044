package stories

import (
	"context"
	"os"
	"path/filepath"
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
	p := &prompt{story: &story{Cluster: cluster, t: t}, at: harness.Prompt{Folder: t.TempDir(), Path: t.TempDir()}}
	must(t, os.Symlink(env.Kubectl, filepath.Join(p.at.Path, "kubectl")))
	p.at.Kubeconfig = filepath.Join(p.at.Path, "kubeconfig")
	must(t, os.WriteFile(p.at.Kubeconfig, p.kubectl("config", "view", "--raw", "--flatten", "--minify"), 0o600))
	p.runs("kubectl config set-context --current --namespace=" + namespace)
	return p
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
