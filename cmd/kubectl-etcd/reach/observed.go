package reach

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/decision"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
)

// readable are the passes of a log, and why the last one that cannot be read is not among them: an operator of another version may have
// written it, or it is longer than the lines that are kept.
func readable(log string) (passes []replay.Pass, unread error) {
	for line := range strings.Lines(log) {
		found, err := replay.Read([]byte(line))
		switch {
		case err == nil:
			passes = append(passes, found...)
		case !errors.Is(err, replay.ErrNone):
			unread = err
		}
	}
	return passes, unread
}

// LastObserved is what the operator's log says that it observed of a cluster last. The error is for a person.
func (a *Access) LastObserved(ctx context.Context, name string) (replay.Pass, error) {
	cluster, err := a.Object(ctx, name)
	if err != nil {
		return replay.Pass{}, err
	}
	log, err := a.operatorLog(ctx, cluster)
	if err != nil {
		return replay.Pass{}, fmt.Errorf("read the operator's log: %w; if somebody gives you the log: kubectl etcd plan replay FILE", err)
	}
	passes, unread := readable(log)
	last, err := decision.Last(passes, cluster.Namespace, cluster.Name)
	switch {
	case err != nil && unread != nil:
		return last, fmt.Errorf("the operator's log: %w", unread)
	case err != nil:
		return last, fmt.Errorf("%w: have it log one, and try again in a moment: %s", err, decision.Ask(cluster.Namespace, cluster.Name))
	}
	return last, nil
}
