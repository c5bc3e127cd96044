package packaging

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
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
	config := testenv.Start(t)
	r := &reader{Client: testenv.Client(t, config), t: t, texts: texts(t), folder: t.TempDir(), path: t.TempDir()}
	r.kubeconfig = filepath.Join(r.path, "kubeconfig")
	writeKubeconfig(t, config, r.kubeconfig)
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
	for _, namespace := range []string{shop, "billing", "monitoring", "argocd"} {
		r.types("kubectl create namespace " + namespace)
	}
	r.types("kubectl config set-context --current --namespace=" + shop)
	r.types("kubectl apply --server-side --force-conflicts -k config/default")
	return r
}

func (r *reader) links(to, from string) {
	r.t.Helper()
	if err := os.Symlink(to, from); err != nil {
		r.t.Fatal(err)
	}
}

func writeKubeconfig(t *testing.T, config *rest.Config, file string) {
	t.Helper()
	const name = "server"
	text := clientcmdapi.NewConfig()
	text.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	text.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	text.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	text.CurrentContext = name
	if err := clientcmd.WriteToFile(*text, file); err != nil {
		t.Fatal(err)
	}
}

// commands is the only block of commands with a text in a section of a document. Words in capitals are those of the example.
func (r *reader) commands(document, section, having string) string {
	r.t.Helper()
	name := path.Join("docs", document)
	block, err := documents.Commands(documents.Blocks(name, r.texts[name]), section, having)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.NewReplacer("NAMESPACE", shop, "NAME", example).Replace(block.Text)
}

// types runs commands up to the first one that fails, and gives what they print.
func (r *reader) types(commands string) string {
	r.t.Helper()
	shell := exec.CommandContext(r.t.Context(), "sh", "-ec", commands)
	shell.Dir = r.folder
	shell.Env = append(os.Environ(), "KUBECONFIG="+r.kubeconfig, "PATH="+r.path+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, variable := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		shell.Env = append(shell.Env, variable+"="+r.path)
	}
	out, err := shell.CombinedOutput()
	if err != nil {
		r.t.Fatalf("these commands do not work: %v\n%s\n%s", err, commands, out)
	}
	return string(out)
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
