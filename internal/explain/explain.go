// Package explain tells how a decision came about, in words: what was made of the observation, which rule has answered, who was asked
// before, and which guard has put its own answer in the rule's place.
package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// page is what is printed, in lines of at most width columns.
type page struct {
	strings.Builder
	purposes purposes
	width    int
}

const (
	// names is where the columns behind names begin, and said where what is said of rules and guards does.
	names, said = 29, 38
)

// Pass tells how a decision comes about, in lines of at most so many columns, but for words that are longer.
func Pass(p replay.Pass, columns int) (string, error) {
	purposes, err := readPurposes()
	if err != nil {
		return "", err
	}
	return explain(p, purposes, columns), nil
}

func explain(p replay.Pass, purposes purposes, columns int) string {
	out := &page{purposes: purposes, width: columns}
	e := plan.Explain(p.Observed)
	out.head(p)
	out.item(0, names, "State", e.State)
	out.line("")
	out.line("Assessment (internal/plan/assess.go)")
	out.assessment(p.Observed, e.Assessment)
	out.line("")
	out.item(0, 0, "Rules", "(internal/plan/lists.go), in order: one that does not apply passes, the first action decides")
	out.rules(e)
	if e.Rule != "" {
		out.line("")
		out.item(0, 0, "Guards,", "in order: one without objection passes, the first action takes its place")
		out.guards(e)
	}
	out.line("")
	out.item(0, names, "Decided", words(e.Action))
	out.compare(p.Decided, plan.Describe(e.Action))
	return out.String()
}

func (out *page) head(p replay.Pass) {
	from := "the operator's cache"
	if p.Live {
		from = "live reads"
	}
	o := p.Observed
	out.item(0, names, "EtcdCluster", o.Cluster.Namespace+"/"+o.Cluster.Name)
	out.item(0, names, "Observed", fmt.Sprintf("%s, from %s: %d pods, %d volumes, and of etcd's members %d that a quorum confirms",
		o.Now.UTC().Format(time.RFC3339), from, len(o.Pods), len(o.Volumes), len(o.Etcd.Members)))
	for _, r := range o.Refused {
		out.item(0, names, "Refused", fmt.Sprintf("%s, since %s, tried again at %s",
			r.Target, r.Since.UTC().Format(time.RFC3339), r.RetryAt.UTC().Format(time.RFC3339)))
	}
	out.item(0, names, "By etcd-operator", p.Version+", and decided again by the source of "+version.Operator)
}

func (out *page) rules(e plan.Explanation) {
	for i, g := range e.Groups {
		out.item(2, 0, g.Name+":", out.purposes[g.Name])
		at := slices.Index(g.Rules, e.Rule)
		if g.Name != e.Group {
			at = -1
		}
		out.asked(g.Name+"/", g.Rules, at, "APPLIES", e.RuleAction, e.PassedOver...)
		if at >= 0 {
			var groups []string
			for _, later := range e.Groups[i+1:] {
				groups = append(groups, later.Name)
			}
			if len(groups) > 0 {
				out.item(2, 0, "not asked:", list(groups))
			}
			return
		}
	}
}

func (out *page) guards(e plan.Explanation) {
	out.asked("", e.Guards, slices.Index(e.Guards, e.Guard), "REPLACES", e.Action)
}

// asked lists rules or guards, which are asked in order until the one at that place acts; none does if it is -1. Those refused are
// passed over, because the API server refuses their actions.
func (out *page) asked(prefix string, all []string, at int, does string, action plan.Action, refused ...string) {
	for i, name := range all {
		if at >= 0 && i > at {
			out.item(4, 0, "not asked:", list(all[i:]))
			return
		}
		verdict := "passed"
		switch {
		case i == at:
			verdict = does
		case slices.Contains(refused, name):
			verdict = "REFUSED"
		}
		out.item(4, said, fmt.Sprintf("%-*s%s", names-4, name, verdict), out.purposes[prefix+name])
		if i == at {
			out.item(said, 0, "=>", words(action))
		}
	}
}

// compare says whether the operator has decided the same.
func (out *page) compare(then, now plan.Description) {
	switch {
	case then == plan.Description{}:
	case then == now:
		out.item(0, names, "", "The operator decided the same.")
	default:
		out.item(0, names, "", fmt.Sprintf("The operator decided otherwise: %s. Its version has other rules than this source.", sentence(then)))
	}
}

// words are what an action is.
func words(a plan.Action) string {
	text := sentence(plan.Describe(a))
	if wait, ok := a.(plan.Wait); ok {
		text += fmt.Sprintf(" (looks again in %s)", wait.After)
	}
	return text
}

func sentence(d plan.Description) string {
	return fmt.Sprintf("%s (%s): %s", d.Action, d.Reason, d.Message)
}

func list(names []string) string { return strings.Join(names, ", ") }
