package install

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	// helm is the path of the program.
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
	if helm == "" {
		return 1, errors.New("HELM is not set: use the targets of the Makefile")
	}
	if nodes, err = lab.Attach(); err != nil {
		return 1, err
	}
	if this, next, err = released.Pair(ctx, env.Root, os.Getenv("VERSION"), os.Stderr); err != nil {
		return 1, err
	}
	for _, r := range []released.Release{this, next} {
		if err := r.Offer(ctx, os.Stderr); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
