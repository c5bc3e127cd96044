package packaging

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/testenv"
	"github.com/etcdpilot/etcd-operator/test/documents"
)

// reader types commands of the documents in a checkout, at an API server on which the operator is installed, and runs nowhere.
type reader struct {
	client.Client
	t     *testing.T
	texts map[string]string
	// folder is where commands run: it has all that the source tree has, and takes what they write.
	folder, path, kubeconfig string
}

// example is the EtcdCluster that NAME stands for in the documents, and shop the namespace.
const (
	shop    = "shop"
	example = "example"
)

func newReader(t *testing.T) *reader {
	t.Helper()
	r := newcomer(t)
	for _, namespace := range []string{shop, "billing", "monitoring", "argocd"} {
		r.types("kubectl create namespace " + namespace)
	}
	r.types("kubectl config set-context --current --namespace=" + shop)
	r.types("kubectl apply --server-side --force-conflicts -k config/default")
	return r
}

// newcomer is a reader whose API server has no operator yet.
func newcomer(t *testing.T) *reader {
	t.Helper()
	config := testenv.Start(t)
	r := &reader{
		Client: testenv.Client(t, config), t: t, texts: texts(t), folder: t.TempDir(), path: t.TempDir(), kubeconfig: kubeconfigOf(t, config),
	}
	for name, program := range map[string]string{"kubectl": asset(t, "TEST_ASSET_KUBECTL"), "helm": asset(t, "TEST_ASSET_HELM")} {
		r.links(program, filepath.Join(r.path, name))
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != "dist" {
			r.links(filepath.Join(testenv.Root(), name), filepath.Join(r.folder, name))
		}
	}
	return r
}

func (r *reader) links(to, from string) {
	r.t.Helper()
	if err := os.Symlink(to, from); err != nil {
		r.t.Fatal(err)
	}
}

// block is the only block of commands with a text in a section of a document.
func (r *reader) block(document, section, having string) documents.Block {
	r.t.Helper()
	name := path.Join("docs", document)
	block, err := documents.Commands(documents.Blocks(name, r.texts[name]), section, having)
	if err != nil {
		r.t.Fatal(err)
	}
	return block
}

// commands are those of that block, but for the lines that begin with one of these. Words in capitals are those of the example.
func (r *reader) commands(document, section, having string, without ...string) string {
	r.t.Helper()
	block := r.block(document, section, having)
	return strings.NewReplacer("NAMESPACE", shop, "NAME", example).Replace(strings.Join(block.Without(without...), "\n"))
}

// try runs commands up to the first one that fails, and gives what they print.
func (r *reader) try(commands string) (string, error) {
	shell := exec.CommandContext(r.t.Context(), "sh", "-ec", commands)
	shell.Dir = r.folder
	shell.Env = append(os.Environ(), "KUBECONFIG="+r.kubeconfig, "PATH="+r.path+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, variable := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		shell.Env = append(shell.Env, variable+"="+r.path)
	}
	out, err := shell.CombinedOutput()
	return string(out), err
}

// types wants commands to work, and gives what they print.
func (r *reader) types(commands string) string {
	r.t.Helper()
	out, err := r.try(commands)
	if err != nil {
		r.t.Fatalf("these commands do not work: %v\n%s\n%s", err, commands, out)
	}
	return out
}

// prints wants commands to print this, whatever blanks are around it.
func (r *reader) prints(commands, want string) {
	r.t.Helper()
	if got := strings.TrimSpace(r.types(commands)); got != want {
		r.t.Errorf("it prints %q, and is to print %q: %s", got, want, commands)
	}
}

// within is the reader in a part of the test: what fails there fails that part.
func (r *reader) within(t *testing.T) *reader {
	other := *r
	other.t = t
	return &other
}
