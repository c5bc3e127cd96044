package world

import (
	"errors"
	"fmt"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// begins puts into the world what follows from a decision that the model cannot make. All others it has to make itself.
func (w *World) begins(o *plan.Observed) error {
	act, tunes := plan.Next(*o).(plan.CommitTuning)
	if !tunes || act.FromResources == (plan.Resources{}) || act.Because != "" {
		return w.agrees(o)
	}
	if here, _ := w.Decide(); plan.Mutates(here) {
		return errUnknownAct
	}
	w.cfg.first = act
	for i := range w.Pods {
		w.Pods[i].Resources = 0
	}
	return nil
}

// errUnknownAct is why nothing follows.
var errUnknownAct = errors.New("what comes of this act of Auto Pilot is not in the model")

// agrees checks that the operator decides the same on what it sees in this world.
func (w *World) agrees(o *plan.Observed) error {
	there, assessment := plan.Decide(*o)
	here, _ := w.Decide()
	said, says := plan.Describe(there), plan.Describe(here)
	if said.Action == says.Action && said.Reason == says.Reason && (!plan.Mutates(there) || notationHere(there) == Notation(here)) {
		return nil
	}
	if assessment.Feature != "" {
		return errUnknownAct
	}
	return fmt.Errorf("the model does not have all that is observed: in it the operator would begin with %s (%s): %s", says.Action, says.Reason, says.Message)
}

// notationHere is that of an action without what the record of a seeded world leaves out.
func notationHere(a plan.Action) string {
	if act, tunes := a.(plan.CommitTuning); tunes {
		act.Resized = plan.Resized{}
		a = act
	}
	return Notation(a)
}
