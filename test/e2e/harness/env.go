package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Env is a Kubernetes cluster to work on.
type Env struct {
	client.Client
	// Kube is for what the generic client lacks: logs and the pods' proxy.
	Kube *kubernetes.Clientset
	// Kubeconfig and Kubectl are paths.
	Kubeconfig, Kubectl string
	// Root is the repository's folder.
	Root string
	// Image and ClientImage are those of the operator and of the test client.
	Image, ClientImage string
	// EtcdVersions are those that stories are told of that name none. Clusters whose specs name no version run the first; the operator's default if
	// there is none.
	EtcdVersions []string
}

// Connect makes an Env from environment variables that the Makefile sets: KUBECONFIG, KUBECTL, ROOT, IMG, CLIENT_IMG, and
// ETCD_VERSION, a list with commas, which may be empty.
func Connect() (*Env, error) {
	e := &Env{
		Kubeconfig: os.Getenv("KUBECONFIG"), Kubectl: os.Getenv("KUBECTL"), Root: os.Getenv("ROOT"),
		Image: os.Getenv("IMG"), ClientImage: os.Getenv("CLIENT_IMG"),
	}
	if versions := os.Getenv("ETCD_VERSION"); versions != "" {
		e.EtcdVersions = strings.Split(versions, ",")
	}
	for name, value := range map[string]string{
		"KUBECONFIG": e.Kubeconfig, "KUBECTL": e.Kubectl, "ROOT": e.Root, "IMG": e.Image, "CLIENT_IMG": e.ClientImage,
	} {
		if value == "" {
			return nil, fmt.Errorf("%s is not set: use the targets of the Makefile", name)
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", e.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", e.Kubeconfig, err)
	}
	config.QPS, config.Burst = 200, 400
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1beta2.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if e.Client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if e.Kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return e, nil
}

// OperatorNamespace is where config/default puts the operator.
const OperatorNamespace = "etcd-operator-system"

// Deploy applies config/default with the image of this Env, as a user would, and waits until the operator is ready.
func (e *Env) Deploy(ctx context.Context) error {
	return e.withManifests(func(config string) error { return e.deployFrom(ctx, config) })
}

// deployFrom deploys a copy of config.
func (e *Env) deployFrom(ctx context.Context, config string) error {
	if err := e.Run(ctx, "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(config, "default")); err != nil {
		return err
	}
	return e.Run(ctx, "rollout", "status", "--timeout=3m", "-n", OperatorNamespace, "deployment/etcd-operator-controller-manager")
}

// withManifests gives a copy of config with the image of this Env.
func (e *Env) withManifests(use func(config string) error) error {
	config, err := os.MkdirTemp("", "etcd-operator-config-")
	if err != nil {
		return fmt.Errorf("copy the manifests: %w", err)
	}
	defer func() { _ = os.RemoveAll(config) }()
	if err := os.CopyFS(config, os.DirFS(filepath.Join(e.Root, "config"))); err != nil {
		return fmt.Errorf("copy the manifests: %w", err)
	}
	// What `kustomize edit set image` writes for `make deploy`.
	file := fmt.Sprintf("resources: [manager.yaml]\nimages: [{name: controller, newName: %q, newTag: %q}]\n",
		repository(e.Image), tag(e.Image))
	if err := os.WriteFile(filepath.Join(config, "manager", "kustomization.yaml"), []byte(file), 0o600); err != nil {
		return fmt.Errorf("set the image: %w", err)
	}
	return use(config)
}

func repository(image string) string {
	if i := lastColon(image); i > 0 {
		return image[:i]
	}
	return image
}

func tag(image string) string {
	if i := lastColon(image); i > 0 {
		return image[i+1:]
	}
	return "latest"
}

// lastColon is where the tag starts, and not where a registry's port does.
func lastColon(image string) int {
	for i := len(image) - 1; i >= 0 && image[i] != '/'; i-- {
		if image[i] == ':' {
			return i
		}
	}
	return -1
}

// Run runs kubectl.
func (e *Env) Run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, e.Kubectl, append([]string{"--kubeconfig", e.Kubeconfig}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %v: %w\n%s", args, err, out)
	}
	return nil
}

// Namespace creates a namespace that enforces the restricted Pod Security Standard.
func (e *Env) Namespace(ctx context.Context, name string) error {
	return client.IgnoreAlreadyExists(e.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}))
}

// poll is how often a condition is looked at.
const poll = 100 * time.Millisecond

// Await waits until the condition holds; the error tells what was last seen.
func Await(ctx context.Context, what string, limit time.Duration, holds func(context.Context) (string, bool)) error {
	seen := ""
	err := wait.PollUntilContextTimeout(ctx, poll, limit, true, func(ctx context.Context) (bool, error) {
		now, ok := holds(ctx)
		if ctx.Err() == nil || seen == "" { // at the end of the limit it is only said that the limit has ended
			seen = now
		}
		return ok, nil
	})
	if err != nil {
		return fmt.Errorf("%s: not after %s: %s", what, limit, seen)
	}
	return nil
}
