package doctor

import (
	"fmt"
	"slices"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Verdict is what a finding means.
type Verdict string

// The verdicts. Wrong is what somebody has to do something about, Doubtful what works and deserves a look.
const (
	Good     Verdict = "ok"
	Doubtful Verdict = "warning"
	Wrong    Verdict = "error"
	Unknown  Verdict = "unknown"
)

// Finding is what a check has found.
type Finding struct {
	// Check is the name of the check, the same in every version.
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`
	// Next is what the operator does about it, empty if it does nothing, and ByHand what a person can do.
	Next   string `json:"next,omitempty"`
	ByHand string `json:"byHand,omitempty"`
	// Commands are what to run for that, in order. In capital letters is what only a person knows.
	Commands []string `json:"commands,omitempty"`
	// Why is the address of what docs/reasons.md says of the reason that the operator gives, if it is about one, and Runbook that of a page
	// about it.
	Why     string `json:"why,omitempty"`
	Runbook string `json:"runbook,omitempty"`
}

// Report is what all checks have found.
type Report struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"`
	// Wrong, Doubtful and Unknown are how many findings have that verdict.
	Wrong    int       `json:"errors"`
	Doubtful int       `json:"warnings"`
	Unknown  int       `json:"unknown"`
	Findings []Finding `json:"findings"`
}

// check is a question to the facts. It finds something, or nothing if the question does not arise.
type check struct {
	name string
	look func(*Facts) []Finding
}

// checks are asked in this order.
var checks = []check{
	{"rights", rights},
	{"operator", operator},
	{"paused", paused},
	{"quorum", quorum},
	{"members", members},
	{"answers", answers},
	{"alarms", alarms},
	{"lag", lag},
	{"space", space},
	{"fragmentation", fragmentation},
	{"disk", disk},
	{"network", network},
	{"hashes", hashes},
	{"spread", spread},
	{"budget", budget},
	{"volumes", volumes},
	{"version", versions},
	{"certificates", certificates},
	{"backups", backups},
	{"autopilot", autopilot},
	{"conditions", conditions},
}

// ofStopped are those that make sense of a cluster whose members are stopped on purpose.
var ofStopped = []string{"rights", "operator", "paused", "volumes", "certificates", "backups", "conditions"}

// Examine asks all checks.
func Examine(f *Facts) *Report {
	r := &Report{Namespace: f.Cluster.Namespace, Name: f.Cluster.Name, Version: f.Cluster.Status.CurrentVersion, Findings: []Finding{}}
	if f.Unread[Pods] == "" {
		known := *f
		known.Answers = report.WithPodless(f.Cluster, f.Pods, f.Answers)
		f = &known
	}
	acts := f.acts()
	for _, c := range checks {
		if f.hibernates() && !slices.Contains(ofStopped, c.name) {
			continue
		}
		for _, found := range c.look(f) {
			found.Check = c.name
			if !acts { // what it would do is no help while it does nothing
				found.Next = ""
			}
			switch found.Verdict {
			case Wrong:
				r.Wrong++
			case Doubtful:
				r.Doubtful++
			case Unknown:
				r.Unknown++
			default:
			}
			r.Findings = append(r.Findings, found)
		}
	}
	return r
}

// Err is an error if anything is wrong.
func (r *Report) Err() error {
	if r.Wrong == 0 {
		return nil
	}
	return fmt.Errorf("something is wrong with %s: %d of %d findings", r.Name, r.Wrong, len(r.Findings))
}

func good(format string, args ...any) []Finding {
	return []Finding{{Verdict: Good, Found: fmt.Sprintf(format, args...)}}
}

func doubtful(format string, args ...any) Finding {
	return Finding{Verdict: Doubtful, Found: fmt.Sprintf(format, args...)}
}

func wrong(format string, args ...any) Finding {
	return Finding{Verdict: Wrong, Found: fmt.Sprintf(format, args...)}
}

// runbook is the address of the page about an alert.
func runbook(alert string) string { return version.Document("docs/runbooks/" + alert + ".md") }

// unread is what is found where nothing could be read.
func (f *Facts) unread(source Source, what string) []Finding {
	return []Finding{{Verdict: Unknown, Found: what + " is not known: " + f.Unread[source]}}
}

// orGood is what was found, or, if that is nothing, that all is well.
func orGood(found []Finding, format string, args ...any) []Finding {
	if len(found) > 0 {
		return found
	}
	return good(format, args...)
}
