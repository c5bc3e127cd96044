package decision

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
	"github.com/etcdpilot/etcd-operator/internal/explain"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Report is about one decision.
type Report struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Observed is when the operator looked, and OperatorVersion its version.
	Observed        time.Time `json:"observed"`
	OperatorVersion string    `json:"operatorVersion,omitempty"`
	// Now is what the rules of this program decide, and Logged what the operator did, if that is another decision.
	Now    Decision  `json:"now"`
	Logged *Decision `json:"logged,omitempty"`
	// Set are the fields that were edited, and Next what is decided then.
	Set  []string  `json:"set,omitempty"`
	Next *Decision `json:"next,omitempty"`
	// Foreseen is what follows, from the edited spec if there is one. Unforeseen is why that, or what follows from its last step, is not known.
	Foreseen   *Foreseen `json:"foreseen,omitempty"`
	Unforeseen string    `json:"unforeseen,omitempty"`
	// UnderWay is what Auto Pilot has begun to do about a member and not ended, and Held what it has found to do and does not do, whatever was edited.
	UnderWay []Act `json:"underWay,omitempty"`
	Held     []Act `json:"held,omitempty"`

	pass replay.Pass
}

// Decision is an action, and the rule that it comes from.
type Decision struct {
	Action  string `json:"action"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Rule is the rule that applied, and For what it is for; empty if none did. Guard is the one that has replaced the rule's action.
	Rule  string `json:"rule,omitempty"`
	For   string `json:"for,omitempty"`
	Guard string `json:"guard,omitempty"`
}

// Of makes a decision again, and once more with the fields of the spec that are given as name=value.
func Of(p replay.Pass, fields []string) (*Report, error) {
	c := p.Observed.Cluster
	r := &Report{
		Namespace: c.Namespace, Name: c.Name, Observed: p.Observed.Now, OperatorVersion: p.Version, Now: decide(p.Observed), Set: fields, pass: p,
		UnderWay: underWay(p.Observed), Held: held(p.Observed),
	}
	if d := p.Decided; d != (plan.Description{}) && d != (plan.Description{Action: r.Now.Action, Reason: r.Now.Reason, Message: r.Now.Message}) {
		r.Logged = &Decision{Action: d.Action, Reason: d.Reason, Message: d.Message}
	}
	if len(fields) == 0 {
		r.foresee(p.Observed)
		return r, nil
	}
	with, err := edited(p.Observed, fields)
	if err != nil {
		return nil, err
	}
	next := decide(with)
	r.Next = &next
	r.pass.Observed, r.pass.Decided = with, plan.Description{}
	if r.foresee(with); r.Unforeseen == "" {
		r.Unforeseen = unlogged(&p.Observed, &with)
	}
	return r, nil
}

func (r *Report) foresee(o plan.Observed) {
	var err error
	if r.Foreseen, err = foresee(o); err != nil {
		r.Unforeseen = err.Error()
		return
	}
	r.Unforeseen = r.Foreseen.unknown
}

func decide(o plan.Observed) Decision {
	e := plan.Explain(o)
	said := plan.Describe(e.Action)
	return Decision{
		Action: said.Action, Reason: said.Reason, Message: said.Message, Rule: e.Rule, For: explain.Rule(e.Group, e.Rule), Guard: e.Guard,
	}
}

// Last is the last decision about a cluster among those that were logged.
func Last(passes []replay.Pass, namespace, name string) (replay.Pass, error) {
	for _, p := range slices.Backward(passes) {
		if p.Observed.Cluster.Namespace == namespace && p.Observed.Cluster.Name == name {
			return p, nil
		}
	}
	return replay.Pass{}, fmt.Errorf("the operator's log has no observation of %s/%s", namespace, name)
}

// Ask is how to have the operator log what it observes.
func Ask(namespace, name string) string {
	return fmt.Sprintf(`kubectl -n %s annotate etcd %s --overwrite etcd.database.coreos.com/log-observed="$(date)"`, namespace, name)
}

// Explain writes which rules and guards were asked, in order, about the edited spec if there is one.
func (r *Report) Explain(out io.Writer) error {
	text, err := explain.Pass(r.pass, terminal.Columns)
	if err != nil {
		return err
	}
	var cleaned strings.Builder
	for line := range strings.Lines(text) {
		_, _ = fmt.Fprintln(&cleaned, terminal.Clean(strings.TrimSuffix(line, "\n"))) // into memory: it does not fail
	}
	_, err = io.WriteString(out, cleaned.String())
	return err
}

// column is where what is decided begins.
const column = 10

// Write writes the report for a person.
func (r *Report) Write(out io.Writer, now time.Time, coloured bool) error {
	p := &terminal.Page{Coloured: coloured}
	p.Line(p.In(terminal.Bold, terminal.Clean(r.Name)), "as the operator saw it "+duration.HumanDuration(now.Sub(r.Observed))+" ago")
	p.Line()
	r.Now.write(p, "now")
	if r.Logged != nil {
		p.Paragraph(p.In(terminal.Yellow, "!"), 1, column, fmt.Sprintf("the operator (%s) decided otherwise than the rules of this program (%s): %s",
			r.OperatorVersion, version.Operator, r.Logged.sentence()))
	}
	if r.Next != nil {
		p.Line()
		p.Line("with " + terminal.Clean(strings.Join(r.Set, " ")) + ", at its next look:")
		r.Next.write(p, "next")
	}
	r.writeForeseen(p)
	r.writeAutopilot(p)
	_, err := io.WriteString(out, p.String())
	return err
}

func (r *Report) writeForeseen(p *terminal.Page) {
	if last := cmp.Or(r.Next, &r.Now); r.Foreseen != nil {
		r.Foreseen.write(p, *last)
	}
	if r.Unforeseen != "" {
		p.Line()
		p.Paragraph("", 0, 0, "What follows is not foreseen: "+r.Unforeseen+".")
	}
}

// blocked is the action that waits for somebody.
var blocked = plan.Describe(plan.Blocked{}).Action

func (d Decision) write(p *terminal.Page, when string) {
	p.Paragraph(p.In(terminal.Bold, when), len(when), column, d.sentence())
	if d.Action == blocked {
		reasons.Write(p, column, d.Reason)
	}
	if d.For != "" {
		p.Paragraph("", 0, column, "rule "+d.Rule+": "+d.For)
	}
	if d.Guard != "" {
		p.Paragraph("", 0, column, "guard "+d.Guard+" has put this in the place of the rule's own action")
	}
}

func (d Decision) sentence() string { return fmt.Sprintf("%s (%s): %s", d.Action, d.Reason, d.Message) }
