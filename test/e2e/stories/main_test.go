package stories

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// limit is how long any one step of a story may take. It is no measure of speed: it ends a story that hangs.
const limit = 3 * time.Minute

var (
	env   *harness.Env
	nodes *lab.Lab
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "stories:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if env, err = harness.Connect(); err != nil {
		return 1, err
	}
	if nodes, err = lab.Attach(); err != nil {
		return 1, err
	}
	if err = env.Deploy(ctx); err != nil {
		return 1, err
	}
	keeping, stop := context.WithCancel(context.Background())
	kept := make(chan error, 1)
	go func() { kept <- nodes.Keep(keeping, os.Stderr) }()
	code = m.Run()
	stop()
	return code, <-kept
}
