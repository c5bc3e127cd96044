package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/etcdpilot/etcd-operator/test/e2e/history"
)

// Judgment is what a client saw, and whether that is what etcd promises.
type Judgment struct {
	Report Report
	// Operations is how many the client's workers did since it was started, and Verdict what is known of their history.
	Operations int
	Verdict    history.Verdict
}

// String is the judgment in words.
func (j Judgment) String() string {
	return fmt.Sprintf("%s; history of %d operations: %s", j.Report, j.Operations, j.Verdict)
}

// Judge says what the client saw since the last report. It is an error if an acknowledged write was lost, if all that the client saw since
// it was started is not what etcd promises, or takes too long to tell, or, of one that is said to be undisturbed, if an operation failed or
// there was none.
func (w *Writer) Judge(ctx context.Context, undisturbed bool) (j Judgment, err error) {
	if j.Report, err = w.Report(ctx); err != nil {
		return j, err
	}
	seen, err := w.History(ctx)
	if err != nil {
		return j, err
	}
	picture := filepath.Join(w.cluster.Root, "bin", "history-"+w.cluster.Namespace+"-"+w.cluster.Name+".html")
	j.Operations = len(seen.Operations)
	j.Verdict, err = history.Check(seen, time.Minute, picture)
	if j.Verdict.Bad() || j.Report.Lost > 0 {
		err = errors.Join(err, fmt.Errorf("the history is %s, the writer lost %d writes; see %s", j.Verdict, j.Report.Lost, picture))
	}
	if j.Verdict == history.TimedOut {
		err = errors.Join(err, fmt.Errorf("whether a write was lost is %s", j.Verdict))
	}
	if undisturbed && (j.Report.Failures > 0 || j.Report.Operations == 0) {
		err = errors.Join(err, fmt.Errorf("the writer was disturbed: %s", j.Report))
	}
	return j, err
}
