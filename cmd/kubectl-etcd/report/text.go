package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Write writes the report for a person.
func (c *Cluster) Write(out io.Writer, coloured bool) error {
	t := &terminal.Page{Coloured: coloured}
	c.head(t)
	c.table(t)
	c.remarks(t)
	_, err := io.WriteString(out, t.String())
	return err
}

// head is the line that tells whether all is well.
func (c *Cluster) head(t *terminal.Page) {
	version := c.Version
	if c.TargetVersion != "" {
		version += " → " + c.TargetVersion
	}
	ready := fmt.Sprintf("%d/%d ready", c.ReadyVoters, c.Voters)
	if c.Voters == 0 {
		t.Line(t.In(terminal.Bold, c.Name), "no members yet")
	} else {
		t.Line(t.In(terminal.Bold, c.Name), version, ready+", "+c.margin(t))
	}
	if c.Hibernation == string(plan.Hibernated) {
		t.Line(t.In(terminal.Yellow, "!") + " hibernated: all members are stopped, or about to be, and their volumes stay (spec.hibernate)")
	}
	if c.Paused {
		t.Line(t.In(terminal.Yellow, "!") + " paused: the operator changes nothing (spec.paused)")
	}
	c.conditions(t)
}

func (c *Cluster) margin(t *terminal.Page) string {
	switch {
	case c.Hibernation == string(plan.Hibernated):
		return "hibernated"
	case c.MayFail < 0:
		return t.In(terminal.Red, "no quorum")
	case c.MayFail == 0:
		return t.In(terminal.Yellow, "none may fail")
	case c.MayFail == 1:
		return "one may fail"
	default:
		return fmt.Sprintf("%d may fail", c.MayFail)
	}
}

// conditions writes Ready, and those that are not as they should be: of several with one reason, the last one leads to what that means.
func (c *Cluster) conditions(t *terminal.Page) {
	var amiss []metav1.Condition
	for _, kind := range []string{
		v1beta2.ConditionReady, v1beta2.ConditionDegraded, v1beta2.ConditionCertificatesValid, v1beta2.ConditionAuthenticated,
	} {
		said, good := meta.FindStatusCondition(c.Conditions, kind), metav1.ConditionTrue
		if kind == v1beta2.ConditionDegraded {
			good = metav1.ConditionFalse
		}
		switch {
		case said == nil:
		case said.Status != good:
			amiss = append(amiss, *said)
		case kind == v1beta2.ConditionReady:
			t.Paragraph("", 0, 0, said.Message+", for "+c.since(*said))
		}
	}
	for i, said := range amiss {
		t.Line(t.In(terminal.Yellow, "!")+" "+said.Type, terminal.Clean(said.Reason), "for "+c.since(said))
		t.Paragraph("", 0, 2, said.Message)
		if !slices.ContainsFunc(amiss[i+1:], func(later metav1.Condition) bool { return later.Reason == said.Reason }) {
			reasons.Write(t, 2, said.Reason)
		}
	}
}

// since is for how long a condition has been as it is.
func (c *Cluster) since(said metav1.Condition) string {
	return duration.HumanDuration(c.now.Sub(said.LastTransitionTime.Time))
}

// table has a line for each member.
func (c *Cluster) table(t *terminal.Page) {
	if len(c.Members) == 0 {
		return
	}
	t.Line()
	rows := [][]string{{"MEMBER", "ROLE", "NODE", "DB", "IN USE", "QUOTA", "LAG", "FSYNC", "ALARM"}}
	for _, m := range c.Members {
		rows = append(rows, []string{
			m.Name, m.Role, or(m.Node), terminal.Size(m.DatabaseBytes), terminal.Size(m.InUseBytes), terminal.Size(m.QuotaBytes), lag(m), fsync(m), or(strings.Join(m.Alarms, ",")),
		})
	}
	const member, node = 0, 2
	for i, row := range terminal.Table(rows, node, member) {
		if i > 0 {
			c.Members[i-1].mark(t, row)
		}
		t.Line(row...)
	}
}

// mark colours what to look at first.
func (m Member) mark(t *terminal.Page, row []string) {
	const name, alarm = 0, 8
	switch {
	case m.Problem != "" || !m.Ready && m.Role != "learner":
		row[name] = t.In(terminal.Red, row[name])
	case m.Role == "leader":
		row[name] = t.In(terminal.Bold, row[name])
	}
	if len(m.Alarms) > 0 {
		row[alarm] = t.In(terminal.Red, row[alarm])
	}
}

// remarks are about what the table has no room for.
func (c *Cluster) remarks(t *terminal.Page) {
	t.Line()
	for _, problem := range c.Problems {
		remark(t, terminal.Yellow, problem)
	}
	for _, m := range c.Members {
		if m.Problem != "" {
			remark(t, terminal.Red, m.Name+": "+m.Problem)
		}
		if m.MetricsProblem != "" {
			remark(t, terminal.Yellow, m.Name+": FSYNC is not known: "+m.MetricsProblem)
		}
		for _, alarm := range m.Alarms {
			remark(t, terminal.Red, m.Name+": "+meaning(alarm))
		}
	}
	for _, a := range c.Alarms {
		whose := "an alarm of the member " + a.Member + ", which is none of these"
		if a.Member == "0" {
			whose = "etcd cannot tell whose alarm it is"
		}
		remark(t, terminal.Red, whose+": "+meaning(a.Kind))
	}
	for i, h := range c.Held {
		remark(t, terminal.Yellow, "Auto Pilot holds "+h.Feature+" back: "+h.Reason+" (kubectl etcd autopilot "+c.Name+")")
		if !slices.ContainsFunc(c.Held[i+1:], func(later v1beta2.HeldAct) bool { return later.Reason == h.Reason }) {
			reasons.Write(t, 2, h.Reason)
		}
	}
	if c.Backups != nil && len(c.Backups) == 0 {
		t.Line("No EtcdBackup backs it up.")
	}
	for _, b := range c.Backups {
		b.write(t, c.now)
	}
}

// remark is a sentence behind a mark.
func remark(t *terminal.Page, colour, words string) { t.Paragraph(t.In(colour, "!"), 1, 2, words) }

// meaning is what an alarm of etcd's means.
func meaning(alarm string) string {
	switch alarm {
	case "NOSPACE":
		return "NOSPACE: its database is at its quota, and no member takes writes until there is room and the alarm is disarmed"
	case "CORRUPT":
		return "CORRUPT: the data of members differs; none takes writes until the alarm is disarmed, and what they read may be wrong"
	default:
		return "alarm " + alarm
	}
}

func (b Backup) write(t *terminal.Page, now time.Time) {
	words := "Backup " + b.Name + ": "
	if b.Taken == nil {
		words += "none yet"
	} else {
		words += fmt.Sprintf("%s ago, %s, %s", duration.HumanDuration(now.Sub(*b.Taken)), terminal.Size(b.Bytes), b.verified())
	}
	if b.Reason != "" || !b.Succeeded && b.Message != "" {
		remark(t, terminal.Yellow, words+"; the last one failed: "+strings.TrimPrefix(b.Reason+": "+b.Message, ": "))
		reasons.Write(t, 2, b.Reason)
		return
	}
	t.Paragraph("", 0, 0, words)
}

func (b Backup) verified() string {
	if b.Stale {
		return "stale: taken without a quorum"
	}
	switch b.Verification {
	case v1beta2.VerifyRestore:
		return "restored on trial"
	case v1beta2.VerifyChecksum:
		return "its checksum compared"
	case v1beta2.VerifyCiphertext:
		return "compared with what was uploaded"
	default:
		return "not verified"
	}
}

// or is the text, or a dash.
func or(words string) string {
	if words == "" {
		return "-"
	}
	return words
}

func lag(m Member) string {
	if m.Role == "leader" || m.Lag == nil {
		return "-"
	}
	return fmt.Sprint(*m.Lag)
}

func fsync(m Member) string {
	if m.FsyncSeconds == 0 {
		return "-"
	}
	const perSecond = 1000
	return fmt.Sprintf("%.1fms", m.FsyncSeconds*perSecond)
}
