package stories

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// outcome is what the clients of a story saw from its begin to its end.
type outcome struct {
	began                      time.Time
	operations, failures, lost int64
}

// add has no effect on a story that did not create its cluster, which has no outcome of its own.
func (o *outcome) add(r harness.Report) {
	if o == nil {
		return
	}
	o.operations += r.Operations
	o.failures += r.Failures
	o.lost += r.Lost
}

// tellOutcome logs a row of a table for docs/benchmarks.md, and appends it to the file STORY_TABLE, if one is named. It runs when the test's
// own context has ended already, while the cluster is still there.
func (s *story) tellOutcome() {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	version := "?"
	if object, err := s.Cluster.Get(ctx); err == nil {
		version = cmp.Or(object.Status.CurrentVersion, object.Spec.Version, version)
	}
	row := s.outcome.row(s.t, version)
	s.t.Log(row)
	if file := os.Getenv("STORY_TABLE"); file != "" {
		if err := appendLine(file, row); err != nil {
			s.t.Error(err)
		}
	}
}

func (o *outcome) row(t *testing.T, version string) string {
	story := strings.TrimSuffix(strings.TrimSuffix(t.Name(), "/default"), "/"+version)
	ended := "passed"
	if t.Failed() {
		ended = "FAILED"
	}
	return fmt.Sprintf("| %s | %s | %s | %.1f min | %d of %d | %d | %s |", story, version, o.began.Format(time.DateOnly),
		time.Since(o.began).Minutes(), o.failures, o.operations, o.lost, ended)
}

func appendLine(path, line string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(file, line); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
