package stories

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/rights"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// limit is how long any one step of a story may take. It is no measure of speed: it ends a story that hangs.
const limit = 3 * time.Minute

var (
	env   *harness.Env
	nodes *lab.Lab
	// takenAway are the rights that a story has taken from the operator for a while.
	takenAway []rights.Grant
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
	began := time.Now()
	if env, err = harness.Connect(); err != nil {
		return 1, err
	}
	if nodes, err = lab.Attach(); err != nil {
		return 1, err
	}
	if err = env.Deploy(ctx); err != nil {
		return 1, err
	}
	granted, err := rights.Operators(ctx, env)
	if err != nil {
		return 1, err
	}
	if err = rightly(granted, began, false); err != nil { // not only after an hour
		return 1, err
	}
	keeping, stop := context.WithCancel(context.Background())
	kept := make(chan error, 1)
	go func() { kept <- nodes.Keep(keeping, os.Stderr) }()
	code = m.Run()
	stop()
	return code, errors.Join(<-kept, rightly(granted, began, code == 0 && os.Getenv("ALL_STORIES") != ""))
}

// rightly compares what the operator was granted with what it has done since the stories began. That it has used all of it is wanted
// only if all stories that gate a change were told.
func rightly(granted []rights.Grant, since time.Time, all bool) error {
	files, err := nodes.AuditLogs()
	if err != nil {
		return err
	}
	ledger, err := rights.Account(granted, files, since)
	if err != nil {
		return err
	}
	ledger.Forgive(takenAway)
	if all {
		fmt.Printf("the operator has used its rights so often:\n%s", ledger)
	}
	if wrongs := ledger.Wrongs(all, rights.Excused()); len(wrongs) > 0 {
		return fmt.Errorf("the operator\n  %s", strings.Join(wrongs, "\n  "))
	}
	return nil
}
