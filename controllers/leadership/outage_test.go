package leadership_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"

	"github.com/etcdpilot/etcd-operator/controllers/leadership"
)

// lease is one whose writes fail in the way that fails tells, nil if they do not.
type lease struct {
	resourcelock.Interface
	fails func() error
}

func (lease) Identity() string { return "a" }

func (l lease) Update(context.Context, resourcelock.LeaderElectionRecord) error { return l.fails() }

// TestRenewedAfterOutage wants the Lease renewed soon after an outage of any length, by one call of leader election, which itself
// pauses for seconds after a failure. A refusal is returned at once.
func TestRenewedAfterOutage(t *testing.T) {
	record := resourcelock.LeaderElectionRecord{HolderIdentity: "a"}
	for _, away := range []time.Duration{6 * time.Second, 20 * time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			lock := leadership.NewLock(lease{fails: func() error {
				if time.Since(begun) >= away {
					return nil
				}
				return apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "update", schema.GroupResource{}, "", "", 0, true)
			}}, clock.RealClock{})
			if err := lock.Update(t.Context(), record); err != nil {
				t.Error(err)
			}
			if late := time.Since(begun) - away; late > 500*time.Millisecond || lock.Left() == 0 {
				t.Errorf("after an outage of %s it was renewed %s late, for %s", away, late, lock.Left())
			}
		})
	}
	refused := errors.New("conflict")
	if err := leadership.NewLock(lease{fails: func() error { return refused }}, clock.RealClock{}).Update(t.Context(), record); !errors.Is(err, refused) {
		t.Errorf("it returns %v", err)
	}
}

// TestReleaseInOutage wants a Lease that is given up to be tried once: the process ends.
func TestReleaseInOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "update", schema.GroupResource{}, "", "", 0, true)
		begun := time.Now()
		lock := leadership.NewLock(lease{fails: func() error { return away }}, clock.RealClock{})
		if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); !errors.Is(err, away) || time.Since(begun) > 0 {
			t.Errorf("it returns %v after %s", err, time.Since(begun))
		}
	})
}
