package follow_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/follow"
)

var quick = follow.Times{Poll: time.Millisecond, GiveUp: time.Minute}

// steps gives one after the other, and the last one for ever.
func steps(all ...any) func(context.Context) (follow.Step, error) {
	return func(context.Context) (follow.Step, error) {
		next := all[0]
		if len(all) > 1 {
			all = all[1:]
		}
		if err, failed := next.(error); failed {
			return follow.Step{}, err
		}
		return next.(follow.Step), nil
	}
}

func unknown(context.Context) string { return "" }

// TestUntil says what changes, bears with an API server that is away, and ends as the object does.
func TestUntil(t *testing.T) {
	busy := func(message string) follow.Step {
		return follow.Step{Begun: true, Reason: "BackingUp", Message: message}
	}
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "etcdbackups"}, "b")
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "etcdbackups"}, "b", errors.New("no"))
	for name, test := range map[string]struct {
		look      func(context.Context) (follow.Step, error)
		idle      string
		says, err string
	}{
		"done":         {steps(busy("a"), busy("a"), errors.New("away"), busy("b\x1b[2J"), follow.Step{Done: true}), "", "BackingUp: a\nBackingUp: b [2J\n", ""},
		"failed":       {steps(follow.Step{Done: true, Problem: errors.New("NoSuchBucket: none")}), "", "", "NoSuchBucket: none"},
		"deleted":      {steps(busy("a"), gone), "", "BackingUp: a\n", "EtcdBackup b was deleted"},
		"not allowed":  {steps(forbidden), "", "", "look after EtcdBackup b: "},
		"nobody acts":  {steps(follow.Step{}, follow.Step{}, follow.Step{Done: true}), "", "! the operator has not seen EtcdBackup b yet: if it does not run, nothing\nhappens until it does.\n", ""},
		"known reason": {steps(follow.Step{}, follow.Step{}, follow.Step{Done: true}), "the operator does not run", "! the operator does not run: EtcdBackup b waits until it is back.\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := quick.Until(t.Context(), &out, "EtcdBackup b", func(context.Context) string { return test.idle }, test.look)
			if out.String() != test.says || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("it says %q and ends with %v", out.String(), err)
			}
		})
	}
}

// TestInterrupted leaves the object to the operator.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	look := func(context.Context) (follow.Step, error) {
		cancel()
		return follow.Step{}, ctx.Err()
	}
	var out strings.Builder
	if err := quick.Until(ctx, &out, "EtcdBackup b", unknown, look); err == nil || !strings.Contains(err.Error(), "the operator goes on with EtcdBackup b") {
		t.Errorf("it ends with %v", err)
	}
}

// TestAPIServerAway gives up in the end.
func TestAPIServerAway(t *testing.T) {
	var out strings.Builder
	short := follow.Times{Poll: time.Millisecond, GiveUp: time.Nanosecond}
	if err := short.Until(t.Context(), &out, "EtcdBackup b", unknown, steps(errors.New("away"))); err == nil || !strings.Contains(err.Error(), "away") {
		t.Errorf("it ends with %v", err)
	}
}
