package reconcile

import (
	"cmp"
	"errors"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

// Deed is an action that changes something, as the metrics count it.
type Deed struct {
	// Action is its name, Reason that of conditions and events.
	Action, Reason string
	// Feature is that of Auto Pilot which acts, empty if none does.
	Feature string
	// Incomplete is the outcome if it was not carried out as a whole although there was no error; empty if it was.
	Incomplete string
	took       time.Duration
}

// Count counts what has come of it. The status write belongs to it: some actions are nothing else.
func (d *Deed) Count(err error) {
	if d == nil {
		return
	}
	outcome := cmp.Or(d.Incomplete, metrics.OutcomeDone)
	switch {
	case errors.Is(err, ErrNoLease) || Stale(err):
		outcome = metrics.OutcomeStale
	case err != nil && !Gone(err): // the object may have gone meanwhile
		outcome = metrics.OutcomeFailed
	}
	metrics.Acted(d.Action, d.Reason, outcome, d.took)
	if d.Feature != "" {
		metrics.AutopilotActed(d.Feature, outcome)
	}
}
