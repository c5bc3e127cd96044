package decision

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// Foreseen is what follows by a run of the model in which the explorer checks the planner, if nothing fails.
type Foreseen struct {
	// Steps are all actions that change something, the next one first.
	Steps []Step `json:"steps"`
	// End is the answer when nothing changes any more; nil if the model had not come to rest, or nobody knows what follows.
	End *Step `json:"end,omitempty"`

	// unknown is why that is, empty if it is known.
	unknown string
}

// Step is one action.
type Step struct {
	Action  string `json:"action"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Assumed is what the model lets happen first, beside what Kubernetes and etcd do by themselves.
	Assumed []string `json:"assumed,omitempty"`
}

// foresee says what follows from what is observed. The error, for a person, says what the model does not know.
func foresee(o plan.Observed) (*Foreseen, error) {
	w, err := world.Seed(o)
	if err != nil {
		return nil, err
	}
	run := w.Foresee()
	out := &Foreseen{Steps: []Step{}, unknown: run.Unknown}
	for _, s := range run.Steps {
		if step := stepOf(s); !out.repeats(step) {
			out.Steps = append(out.Steps, step)
		}
	}
	if run.End != nil {
		end := stepOf(world.Step{Action: run.End, After: run.After})
		out.End = &end
	}
	return out, nil
}

// made is a member's ID: those of new members the model has made up.
var made = regexp.MustCompile(` \([0-9a-f]{16}\)`)

func stepOf(s world.Step) Step {
	said := plan.Describe(s.Action)
	step := Step{Action: said.Action, Reason: said.Reason, Message: made.ReplaceAllString(said.Message, ""), Assumed: s.After}
	if _, pull := s.Action.(plan.DeletePrepullPod); pull {
		step.Message = "deleting the pods that have pulled images" // their names are the API server's
	}
	return step
}

// repeats reports whether the last step says the same.
func (f *Foreseen) repeats(s Step) bool {
	if len(f.Steps) == 0 || len(s.Assumed) > 0 {
		return false
	}
	last := f.Steps[len(f.Steps)-1]
	return last.Action == s.Action && last.Message == s.Message
}

// pace is where the messages of steps begin.
const pace = 24

// write lists the steps, unless there is no more of them than the decision that was written before.
func (f *Foreseen) write(p *terminal.Page, first Decision) {
	if len(f.Steps) == 0 || len(f.Steps) == 1 && f.Steps[0].Action == first.Action && f.End == nil {
		return
	}
	p.Line()
	p.Line("step by step, if nothing else fails or is edited, and pods come up:")
	for i, s := range f.Steps {
		s.assume(p)
		head := fmt.Sprintf("%3d  %s", i+1, s.Action)
		p.Paragraph(head, len(head), pace, s.Message)
	}
	if f.unknown != "" {
		return
	}
	if f.End == nil {
		p.Paragraph("  …  ", 5, pace, "and so on: the model has not come to rest")
		return
	}
	f.End.assume(p)
	head := strings.Repeat(" ", 5) + f.End.Action
	p.Paragraph(head, len(head), pace, f.End.Reason+": "+f.End.Message)
}

// assume says what has to happen first.
func (s Step) assume(p *terminal.Page) {
	for _, assumed := range s.Assumed {
		p.Paragraph("", 0, pace, "(assumed: "+assumed+")")
	}
}
