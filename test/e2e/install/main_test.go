package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/released"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// limit is how long any one step of a story may take. It is no measure of speed: it ends a story that hangs.
const limit = 5 * time.Minute

var (
	env   *harness.Env
	nodes *lab.Lab
	// this release is installed, and upgraded to the next one.
	this, next released.Release
	// from is the commit that TestUpgradeFrom upgrades from. With it there are no releases, but the operators of that commit, earlier, and
	// of the tree as it is, now.
	from         = os.Getenv("FROM")
	earlier, now released.Build
	// manifests are files with all that stories install by YAML or Helm.
	manifests []string
	// helm is the path of the program, empty with from.
	helm = os.Getenv("HELM")
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if env, err = harness.Connect(); err != nil {
		return 1, err
	}
	if nodes, err = lab.Attach(); err != nil {
		return 1, err
	}
	folder, err := os.MkdirTemp("", "etcd-operator-install-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if from == "" {
		err = offers(ctx)
	} else {
		err = builds(ctx, folder)
	}
	if err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// offers makes both releases, and pushes them to the lab's registry.
func offers(ctx context.Context) (err error) {
	if helm == "" {
		return errors.New("HELM is not set: use the targets of the Makefile")
	}
	if this, next, err = released.Pair(ctx, env.Root, os.Getenv("VERSION"), os.Stderr); err != nil {
		return err
	}
	manifests = []string{this.File("install.yaml")}
	return errors.Join(this.Offer(ctx, os.Stderr), next.Offer(ctx, os.Stderr))
}

// builds builds the operator to upgrade from, and writes the manifests of the one to upgrade to.
func builds(ctx context.Context, folder string) (err error) {
	if now, err = released.Now(ctx, env.Root, env.Image, filepath.Join(folder, "now"), os.Stderr); err != nil {
		return err
	}
	if earlier, err = released.At(ctx, env.Root, from, filepath.Join(folder, "earlier"), os.Stderr); err != nil {
		return err
	}
	manifests = []string{now.Manifests(), earlier.Manifests()}
	return nodes.Load(ctx, earlier.Image, earlier.Archive)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
