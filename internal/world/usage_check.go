package world

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// checkResized is for what members are to request: within bounds, by what they use, one change after the other, and nothing less within a day.
func (w *World) checkResized(act plan.CommitTuning) {
	had, to := w.dueAmount(), w.amount(act.Resized.Now)
	switch {
	case act.Because != "":
		w.checkGoneBack(to)
	case to > mostAmount || to < leastAmount:
		w.violate("R: members are to request %d", to)
	case to > had && w.Load != heavy && w.Load != swollen:
		w.violate("R: members are to request more, and use little of it")
	case to < had && w.Memory:
		w.violate("R: members are to request less memory, and nothing is given up")
	case to < had && w.Load != light:
		w.violate("R: members are to request less, and may use it")
	case to < had && w.Status.Tuned.Resized.Since.After(base.Add(-24*time.Hour)):
		w.violate("R: members are to request less again within a day")
	case w.running(func(p *Pod) bool { return p.Resizing || p.Amount != w.tunedAmount() }) != nil:
		w.violate("R: members are to request something else before all have the last amount")
	}
}

// checkGoneBack is for what members go back to: what they had, or as much more memory as one of them uses, of what they were to have.
func (w *World) checkGoneBack(to int) {
	r := w.Status.Tuned.Resized
	before, most := w.amount(r.Before), w.amount(r.Now)
	if r.GivenUp != "" { // and some have not gone back yet
		for i := range w.Pods {
			most = max(most, w.amountOf(&w.Pods[i]))
		}
	}
	if to != before && (!w.Memory || to < before || to > most) {
		w.violate("R: members are to go back to %d, and requested %d", to, before)
	}
	if p := w.running(func(p *Pod) bool { return w.Memory && w.memoryOf(p) > to }); p != nil {
		w.violate("R: members are to go back to %d of memory, and %s uses %d", to, p.Name, w.memoryOf(p))
	}
}

// checkResize is for pods that are to have less memory: one after the other, for it may end etcd.
func (w *World) checkResize(act plan.Resize) {
	p := w.pod(act.Name)
	if p == nil || p.UID != act.UID || !w.Memory || w.Status.Tuned.Resized.InsteadOf != w.requirements() || w.amountOf(p) <= w.dueAmount() || !w.serverRuns(p) {
		return
	}
	if other := w.running(func(other *Pod) bool { return other.Name != p.Name && other.Lowered }); other != nil {
		w.violate("R: %s is given less memory while %s is", p.Name, other.Name)
	}
	if uses := w.memoryOf(p); uses > w.dueAmount() {
		w.violate("R: %s is given %d of memory, and uses %d", p.Name, w.dueAmount(), uses)
	}
}

// checkAnew holds for a pod that runs: it is never made anew for what Auto Pilot has it request.
func (w *World) checkAnew(name string) {
	p := w.pod(name)
	if p == nil || !w.resizes() || !w.serverRuns(p) {
		return
	}
	if p.Template == w.template() && p.Version == w.version() && p.Transport == w.Status.Transport.Served() && p.Resources == w.Resources &&
		p.Quota == w.Status.Tuned.Quota {
		w.violate("R: %s is made anew for what Auto Pilot has it request", name)
	}
}
