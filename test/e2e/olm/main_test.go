package olm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// limit is how long any one step of a story may take. It is no measure of speed: it ends a story that hangs. OLM keeps for
// five minutes what it has read from a catalog.
const limit = 8 * time.Minute

var (
	env     *harness.Env
	nodes   *lab.Lab
	manager lab.RunningOLM
	// previous and this are two releases of the operator, of which this one replaces the previous one.
	previous, this release
	// ours and older are catalogs: of both releases, and of the previous one alone.
	ours, older string
	// previousImage is that of the previous version's operator, scorecardImage that of our own scorecard tests.
	previousImage, scorecardImage = os.Getenv("PREVIOUS_IMG"), os.Getenv("SCORECARD_IMG")
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "olm:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	if env, err = harness.Connect(); err != nil {
		return 1, err
	}
	if previousImage == "" || scorecardImage == "" {
		return 1, errors.New("PREVIOUS_IMG or SCORECARD_IMG is not set: use the targets of the Makefile")
	}
	if nodes, err = lab.Attach(); err != nil {
		return 1, err
	}
	scheme := env.Scheme()
	err = errors.Join(operatorsv1.AddToScheme(scheme), operatorsv2.AddToScheme(scheme), v1alpha1.AddToScheme(scheme),
		apiextensionsv1.AddToScheme(scheme))
	if err != nil {
		return 1, err
	}
	if err := env.Run(ctx, "delete", "namespace", harness.OperatorNamespace, "--ignore-not-found"); err != nil {
		return 1, err
	}
	if manager, err = nodes.OLM().Start(ctx, os.Stderr); err != nil {
		return 1, err
	}
	folder, err := os.MkdirTemp("", "etcd-operator-olm-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := publish(ctx, folder); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// program is one that an environment variable of the Makefile names.
type program struct {
	variable string
	// folder is the one that it works in, and may leave things in.
	folder string
	// env is added to the environment.
	env []string
}

// run returns what the program prints; the error tells what it complained about.
func (p program) run(ctx context.Context, args ...string) ([]byte, error) {
	path := os.Getenv(p.variable)
	if path == "" {
		return nil, fmt.Errorf("%s is not set: use the targets of the Makefile", p.variable)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = p.folder, append(append(os.Environ(), "KUBECONFIG="+env.Kubeconfig), p.env...)
	out, err := cmd.Output()
	exit := &exec.ExitError{}
	if errors.As(err, &exit) {
		return out, fmt.Errorf("%s %v: %w\n%s%s", path, args, err, out, exit.Stderr)
	}
	return out, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
