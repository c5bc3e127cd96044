package decision

import (
	"fmt"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Act is something of Auto Pilot's that is no step.
type Act struct {
	// Feature is the field of spec.autopilot that it belongs to.
	Feature string `json:"feature"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// held is what is due and not done, and why: as in status, one of each feature.
func held(o plan.Observed) (all []Act) {
	told := map[string]bool{}
	for _, h := range plan.Assess(o).Held {
		if !told[h.Feature] {
			all = append(all, Act{h.Feature, h.Reason, h.Message})
		}
		told[h.Feature] = true
	}
	return all
}

// underWay is what is done about a member whose replacement was begun. Of a release on trial it is told by what is held.
func underWay(o plan.Observed) (all []Act) {
	known, record := plan.Assess(o), o.Cluster.Record
	add := func(feature string, begun plan.Action) {
		said := plan.Describe(begun)
		all = append(all, Act{feature, said.Reason, said.Message})
	}
	if m := known.Quarantined; m.ID != 0 {
		add(plan.FeatureDiverged, plan.Quarantine{Quarantined: plan.Quarantined{Member: m.ID, Name: m.Name}})
	}
	if known.Relocated.ID != 0 {
		add(plan.FeatureRelocation, plan.CommitRelocation{Relocation: record.Relocation})
	}
	return all
}

func (r *Report) writeAutopilot(p *terminal.Page) {
	if len(r.UnderWay)+len(r.Held) > 0 {
		p.Line()
	}
	for _, a := range r.UnderWay {
		a.write(p, "under way")
	}
	for _, a := range r.Held {
		a.write(p, "held")
		reasons.Write(p, column, a.Reason)
	}
}

func (a Act) write(p *terminal.Page, how string) {
	p.Paragraph(p.In(terminal.Bold, how), len(how), column, fmt.Sprintf("%s (%s): %s", a.Feature, a.Reason, a.Message))
}

// unlogged is what nobody looked for that Auto Pilot may act on after an edit, empty if there is nothing.
func unlogged(seen, with *plan.Observed) string {
	switch {
	case seen.Cluster.Paused && !with.Cluster.Paused:
		return "how far Auto Pilot goes is not in the log of a cluster that is paused"
	case plan.PatchDue(*with) && !plan.PatchDue(*seen):
		return "to follow a patch release takes a backup, and the operator looks for one only once there is a release to follow"
	}
	return ""
}
