package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/etcdpilot/etcd-operator/test/e2e/history"
)

// Judge says what the client saw since the last report. It is an error if an acknowledged write was lost, if all that the client saw since
// it was started is not what etcd promises, or, of one that is said to be undisturbed, if an operation failed or there was none.
func (w *Writer) Judge(ctx context.Context, undisturbed bool) (said string, err error) {
	report, err := w.Report(ctx)
	if err != nil {
		return "", err
	}
	seen, err := w.History(ctx)
	if err != nil {
		return "", err
	}
	picture := filepath.Join(w.cluster.Root, "bin", "history-"+w.cluster.Namespace+"-"+w.cluster.Name+".html")
	verdict, err := history.Check(seen, time.Minute, picture)
	said = fmt.Sprintf("%s; history of %d operations: %s", report, len(seen.Operations), verdict)
	if verdict.Bad() || report.Lost > 0 {
		err = errors.Join(err, fmt.Errorf("the history is %s, the writer lost %d writes; see %s", verdict, report.Lost, picture))
	}
	if undisturbed && (report.Failures > 0 || report.Operations == 0) {
		err = errors.Join(err, fmt.Errorf("the writer was disturbed: %s", report))
	}
	return said, err
}
