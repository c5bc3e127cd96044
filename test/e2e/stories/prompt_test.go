package stories

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// promptLimit is how long a block of commands may take: they wait for several things themselves.
const promptLimit = 20 * time.Minute

// prompt is where a reader types the commands of a document.
type prompt struct {
	*story
	// folder is where commands run, path has kubectl by that name, and kubeconfig names the story's namespace.
	folder, path, kubeconfig string
}

// prompt makes one whose kubectl works in the story's namespace.
func (s *story) prompt() *prompt {
	s.t.Helper()
	p := &prompt{story: s, folder: s.t.TempDir(), path: s.t.TempDir()}
	must(s.t, os.Symlink(env.Kubectl, filepath.Join(p.path, "kubectl")))
	p.kubeconfig = filepath.Join(p.path, "kubeconfig")
	must(s.t, os.WriteFile(p.kubeconfig, s.kubectl("config", "view", "--raw", "--flatten", "--minify"), 0o600))
	p.runs("kubectl config set-context --current --namespace=" + s.Namespace)
	return p
}

// saves writes a file that the document has the reader save.
func (p *prompt) saves(name, text string) {
	p.t.Helper()
	must(p.t, os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o600))
}

// runs runs commands, and returns what they print.
func (p *prompt) runs(commands string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), promptLimit)
	defer cancel()
	start := time.Now()
	out, err := atPrompt(ctx, commands, p.folder, p.path, p.kubeconfig)
	p.t.Logf("%s\n%s(%.1f s)", commands, out, time.Since(start).Seconds())
	if err != nil {
		p.t.Fatalf("these commands do not work: %v\n%s\n%s", err, commands, out)
	}
	return out
}
