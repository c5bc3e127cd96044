// Package follow waits until the operator has carried out an object, and says meanwhile what is going on.
package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
)

// Step is how far the object is.
type Step struct {
	// Begun is whether the operator has seen the object.
	Begun bool
	// Reason and Message are those of its conditions.
	Reason, Message string
	// Done is whether it is over: Problem then says why it has failed, nil if it has not.
	Done    bool
	Problem error
}

// Times are how often things happen.
type Times struct {
	// Poll is the time between two looks, and Repeat the least between two messages with the same reason.
	Poll, Repeat time.Duration
	// Doubt is after how long without a reaction it is said that the operator may not run, and GiveUp after how long without an answer of
	// the API server it is not asked any more.
	Doubt, GiveUp time.Duration
}

// Usual are the times for people.
func Usual() Times {
	const poll, repeat, doubt, giveUp = time.Second, 5 * time.Second, 15 * time.Second, time.Minute
	return Times{Poll: poll, Repeat: repeat, Doubt: doubt, GiveUp: giveUp}
}

// Until looks until it is over. What is the object, as "EtcdBackup demo-now-x7k2p", and idle says why nothing may have happened yet, empty
// if that is not known.
func (t Times) Until(ctx context.Context, out io.Writer, what string, idle func(context.Context) string,
	look func(context.Context) (Step, error),
) error {
	f := follower{Times: t, out: out, what: what, started: time.Now()}
	tick := time.NewTicker(t.Poll)
	defer tick.Stop()
	for {
		step, err := look(ctx)
		if err := f.answered(err); err != nil {
			return err
		}
		if err == nil {
			if step.Done {
				return step.Problem
			}
			f.tell(ctx, step, idle)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not waited for any longer: the operator goes on with %s", what)
		case <-tick.C:
		}
	}
}

type follower struct {
	Times
	out  io.Writer
	what string
	// started is when it began to look, failed since when the API server does not answer, and told when it last said something.
	started, failed, told time.Time
	said                  Step
	doubted               bool
}

// answered bears with an API server that is away for a while.
func (f *follower) answered(err error) error {
	switch {
	case err == nil:
		f.failed = time.Time{}
		return nil
	case errors.Is(err, context.Canceled):
		return nil // it is said in words
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s was deleted", f.what)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("look after %s: %w", f.what, err)
	}
	if f.failed.IsZero() {
		f.failed = time.Now()
	}
	if time.Since(f.failed) > f.GiveUp {
		return fmt.Errorf("look after %s: %w", f.what, err)
	}
	return nil
}

// tell says what is new.
func (f *follower) tell(ctx context.Context, step Step, idle func(context.Context) string) {
	if !step.Begun {
		if !f.doubted && time.Since(f.started) > f.Doubt {
			f.doubted = true
			if why := idle(ctx); why != "" {
				output.Warn(f.out, "%s: %s waits until it is back.", why, f.what)
			} else {
				output.Warn(f.out, "the operator has not seen %s yet: if it does not run, nothing happens until it does.", f.what)
			}
		}
		return
	}
	if step == f.said || step.Reason == f.said.Reason && time.Since(f.told) < f.Repeat {
		return
	}
	f.said, f.told = step, time.Now()
	output.Say(f.out, "%s: %s", step.Reason, step.Message)
}
