package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// release is one of the chart on a real API server, which has the CRDs already, as after kubectl apply.
type release struct {
	helm
	kubeconfig string
	client     client.Client
}

func newRelease(t *testing.T) release {
	t.Helper()
	log.SetLogger(logr.Discard())
	config := testenv.Start(t)
	return release{newHelm(t), kubeconfigOf(t, config), testenv.Client(t, config)}
}

// kubeconfigOf is a file by which programs reach an API server as an administrator.
func kubeconfigOf(t *testing.T, config *rest.Config) string {
	t.Helper()
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["any"] = &clientcmdapi.Cluster{Server: "https://" + strings.TrimPrefix(config.Host, "https://"), CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos["any"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	kubeconfig.Contexts["any"] = &clientcmdapi.Context{Cluster: "any", AuthInfo: "any"}
	kubeconfig.CurrentContext = "any"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*kubeconfig, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// run runs a command of Helm for the release.
func (r release) run(t *testing.T, command string, args ...string) (string, error) {
	t.Helper()
	args = append([]string{command, "operator", "--namespace", operator.Namespace}, args...)
	cmd := exec.CommandContext(t.Context(), r.program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+r.kubeconfig)
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// does wants it to succeed.
func (r release) does(t *testing.T, command string, args ...string) {
	t.Helper()
	if output, err := r.run(t, command, args...); err != nil {
		t.Fatalf("helm %s %s: %v\n%s", command, strings.Join(args, " "), err, output)
	}
}

// refuses wants Helm to refuse it in these words, and nothing to change.
func (r release) refuses(t *testing.T, words, command string, args ...string) {
	t.Helper()
	before := r.scope(t)
	if output, err := r.run(t, command, args...); err == nil || !strings.Contains(output, words) {
		t.Errorf("helm %s %s: %v, want %q\n%s", command, strings.Join(args, " "), err, words, output)
	}
	if after := r.scope(t); after != before {
		t.Errorf("the operator has its rights %s, and had them %s", after, before)
	}
}

// exists reports whether the API server has that object.
func (r release) exists(t *testing.T, namespace, name string, object client.Object) bool {
	t.Helper()
	err := r.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return !apierrors.IsNotFound(err)
}

// scope is where the operator has its rights.
func (r release) scope(t *testing.T) (scope string) {
	t.Helper()
	if r.exists(t, "", "etcd-operator-manager-rolebinding", &rbacv1.ClusterRoleBinding{}) {
		scope = "everywhere"
	}
	if r.exists(t, "default", "etcd-operator-manager-rolebinding", &rbacv1.RoleBinding{}) {
		scope += "in default"
	}
	return scope
}

func (r release) wantScope(t *testing.T, want, after string) {
	t.Helper()
	if got := r.scope(t); got != want {
		t.Fatalf("%s the operator has its rights %q, want %q", after, got, want)
	}
}

// replicas are those of the operator.
func (r release) replicas(t *testing.T) int32 {
	t.Helper()
	d := &appsv1.Deployment{}
	if !r.exists(t, operator.Namespace, "etcd-operator-controller-manager", d) {
		t.Fatal("there is no Deployment")
	}
	return *d.Spec.Replicas
}

// TestChartOnAServer has Helm do on a real API server what docs/install.md says of it: an upgrade that forgets the list of namespaces is refused
// rather than to grant the operator its rights everywhere.
func TestChartOnAServer(t *testing.T) {
	r := newRelease(t)
	r.refuses(t, "cannot be imported into the current release", "install", r.chart, "--create-namespace")
	r.does(t, "install", r.chart, "--create-namespace", "--take-ownership")
	r.wantScope(t, "everywhere", "after helm install")
	r.does(t, "upgrade", r.chart, "--set", "replicas=2")
	r.does(t, "uninstall")
	r.uninstalled(t)
	r.does(t, "install", r.chart, "--set", "watchNamespaces={default}")
	r.wantScope(t, "in default", "after helm install with a list")

	r.refuses(t, "--reset-then-reuse-values", "upgrade", r.chart, "--set", "replicas=2")
	r.refuses(t, "set one of them", "upgrade", r.chart, "--reuse-values", "--set", "allNamespaces=true")
	r.does(t, "upgrade", r.chart, "--reset-then-reuse-values", "--set", "replicas=2")
	r.wantScope(t, "in default", "after helm upgrade with the former values")
	if n := r.replicas(t); n != 2 {
		t.Errorf("there are %d pods, want 2", n)
	}
	r.does(t, "upgrade", r.chart, "--set", "allNamespaces=true")
	r.wantScope(t, "everywhere", "after helm upgrade with allNamespaces")
	r.does(t, "upgrade", r.chart)
	r.wantScope(t, "everywhere", "after helm upgrade of an operator for all namespaces")
	const clusters = "etcdclusters.etcd.database.coreos.com"
	r.does(t, "upgrade", r.newer(t))
	if r.crd(t, clusters).Annotations["newer"] != "yes" {
		t.Error("helm upgrade does not upgrade the CRDs")
	}
	r.does(t, "rollback", "2")
	r.wantScope(t, "in default", "after helm rollback")
	if r.crd(t, clusters).Annotations["newer"] != "" {
		t.Error("helm rollback keeps the CRDs of the later release")
	}
	r.does(t, "upgrade", r.chart, "--reset-then-reuse-values", "--set", "crds.enabled=false")
	if kept := r.crd(t, clusters); kept.DeletionTimestamp != nil {
		t.Error("helm upgrade without the CRDs deletes them")
	}
}

// uninstalled wants the CRDs to be all that is left.
func (r release) uninstalled(t *testing.T) {
	t.Helper()
	r.wantScope(t, "", "after helm uninstall")
	policies := &admissionregistrationv1.ValidatingAdmissionPolicyList{}
	if err := r.client.List(t.Context(), policies); err != nil || len(policies.Items) > 0 {
		t.Errorf("after helm uninstall there are %d policies (%v)", len(policies.Items), err)
	}
	for _, crd := range testenv.CRDs(t) {
		if kept := r.crd(t, crd.Name); kept.DeletionTimestamp != nil {
			t.Errorf("helm uninstall deletes the CRD %s", crd.Name)
		}
	}
}

// crd is what the API server has of a CRD.
func (r release) crd(t *testing.T, name string) *metav1.PartialObjectMetadata {
	t.Helper()
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if !r.exists(t, "", name, crd) {
		t.Fatalf("there is no CRD %s", name)
	}
	return crd
}

// newer is a later chart, which has something more in its CRDs.
func (r release) newer(t *testing.T) (folder string) {
	t.Helper()
	dir := t.TempDir()
	if output, err := exec.CommandContext(t.Context(), "tar", "-xzf", r.chart, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	folder = filepath.Join(dir, "etcd-operator")
	file := filepath.Join(folder, "templates", "crds", "etcdclusters.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const keep = "    helm.sh/resource-policy: keep\n"
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), keep, keep+"    newer: \"yes\"\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
