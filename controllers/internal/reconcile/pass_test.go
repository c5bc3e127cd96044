package reconcile_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
)

// TestFinish wants nothing to be recorded that is not in status, but what has taken effect all the same, and a stale view to be looked at again rather
// than to fail.
func TestFinish(t *testing.T) {
	broken, of := errors.New("broken"), schema.GroupResource{Resource: "etcdclusters"}
	conflict, gone := apierrors.NewConflict(of, "c", nil), apierrors.NewNotFound(of, "c")
	denied := answered(http.StatusConflict, webhook)
	for name, c := range map[string]struct {
		action, write     error
		written, recorded bool
		done              bool
		again             time.Duration
		fails             bool
		age               time.Duration
	}{
		"done":                          {written: true, recorded: true, again: time.Hour},
		"failed":                        {action: broken, written: true, recorded: true, fails: true},
		"a stale view":                  {action: conflict, done: true, again: reconcile.NotYet},
		"made meanwhile":                {action: apierrors.NewAlreadyExists(of, "c"), done: true, again: reconcile.NotYet},
		"denied as a conflict":          {action: denied, written: true, recorded: true, fails: true},
		"written meanwhile":             {write: conflict, written: true, done: true, again: reconcile.NotYet},
		"failed, and written by others": {action: broken, write: conflict, written: true, done: true, again: reconcile.NotYet},
		"deleted meanwhile":             {action: broken, write: gone, written: true},
		"deleted after the action":      {write: gone, written: true},
		"not written, denied so":        {write: denied, written: true, done: true, fails: true},
		"not written, denied as gone":   {write: answered(http.StatusNotFound, webhook), written: true, done: true, fails: true},
		"not written":                   {write: broken, written: true, done: true, fails: true},
		"held up after the action":      {age: 9 * time.Second, done: true, again: reconcile.NotYet},
		"failed after a while":          {action: broken, age: time.Minute, written: true, recorded: true, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			written, recorded, done := false, false, false
			result, err := reconcile.Finish(t.Context(), reconcile.Ending{
				Left: func() time.Duration { return 9*time.Second - c.age },
				WriteStatus: func(ctx context.Context, err error) error {
					written = true
					if until, bounded := ctx.Deadline(); bounded != (c.action == nil) || bounded && time.Until(until) > 9*time.Second {
						t.Errorf("status may be written until %s", until)
					}
					if !errors.Is(err, c.action) {
						t.Errorf("status is written with %v", err)
					}
					return c.write
				},
				RecordEvents: func(context.Context, error) { recorded = true },
				RecordDone:   func(context.Context) { done = true },
				Again:        func() ctrl.Result { return ctrl.Result{RequeueAfter: time.Hour} },
			}, c.action)
			if written != c.written || recorded != c.recorded || result.RequeueAfter != c.again || (err != nil) != c.fails {
				t.Errorf("written %v, recorded %v, again in %s, error %v", written, recorded, result.RequeueAfter, err)
			}
			if done != c.done {
				t.Errorf("it is told that the action is done: %v", done)
			}
		})
	}
}

// answer is one that changes something or not.
type answer bool

func (a answer) Mutates() bool { return bool(a) }

// TestDecide wants live reads for an answer that changes anything, and for no other.
func TestDecide(t *testing.T) {
	cached, live := struct{ client.Reader }{}, &struct{ client.Reader }{}
	for _, acts := range []answer{false, true} {
		var asked []client.Reader
		got, err := reconcile.Decide(cached, live, func(r client.Reader) (answer, error) {
			asked = append(asked, r)
			return acts, nil
		})
		if err != nil || got != acts || asked[0] != cached || (len(asked) > 1) != bool(acts) || acts && asked[1] != live {
			t.Errorf("%v: asked %v, got %v, %v", acts, asked, got, err)
		}
	}
	_, err := reconcile.Decide(cached, live, func(client.Reader) (answer, error) { return true, errors.New("no cache") })
	if err == nil {
		t.Error("a failed observation is taken for an answer")
	}
}
