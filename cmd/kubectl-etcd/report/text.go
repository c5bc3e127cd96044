package report

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// What a terminal takes for colours (ECMA-48, SGR).
const (
	bold, red, yellow, plain = "\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
)

// text is what is written, line by line.
type text struct {
	strings.Builder
	coloured bool
}

func (t *text) in(colour, words string) string {
	if !t.coloured {
		return words
	}
	return colour + words + plain
}

func (t *text) line(words ...string) {
	_, _ = fmt.Fprintln(t, strings.TrimRight(strings.Join(words, "  "), " ")) // into memory: it does not fail
}

// Write writes the report for a person.
func (c *Cluster) Write(out io.Writer, coloured bool) error {
	t := &text{coloured: coloured}
	c.head(t)
	c.table(t)
	c.remarks(t)
	_, err := io.WriteString(out, t.String())
	return err
}

// head is the line that tells whether all is well.
func (c *Cluster) head(t *text) {
	version := c.Version
	if c.TargetVersion != "" {
		version += " → " + c.TargetVersion
	}
	ready := fmt.Sprintf("%d/%d ready", c.ReadyVoters, c.Voters)
	if c.Voters == 0 {
		t.line(t.in(bold, c.Name), "no members yet")
	} else {
		t.line(t.in(bold, c.Name), version, ready+", "+c.margin(t))
	}
	if c.Paused {
		t.line(t.in(yellow, "!") + " paused: the operator changes nothing (spec.paused)")
	}
	for _, kind := range []string{
		v1beta2.ConditionReady, v1beta2.ConditionDegraded, v1beta2.ConditionCertificatesValid, v1beta2.ConditionAuthenticated,
	} {
		if said := meta.FindStatusCondition(c.Conditions, kind); said != nil {
			c.condition(t, *said)
		}
	}
}

func (c *Cluster) margin(t *text) string {
	switch {
	case c.MayFail < 0:
		return t.in(red, "no quorum")
	case c.MayFail == 0:
		return t.in(yellow, "none may fail")
	case c.MayFail == 1:
		return "one may fail"
	default:
		return fmt.Sprintf("%d may fail", c.MayFail)
	}
}

// condition writes one that is not as it should be, and Ready.
func (c *Cluster) condition(t *text, said metav1.Condition) {
	good := said.Status == metav1.ConditionTrue
	if said.Type == v1beta2.ConditionDegraded {
		good = said.Status == metav1.ConditionFalse
	}
	since := duration.HumanDuration(c.now.Sub(said.LastTransitionTime.Time))
	switch {
	case good && said.Type == v1beta2.ConditionReady:
		t.line(fmt.Sprintf("%s, for %s", clean(said.Message), since))
	case !good:
		t.line(t.in(yellow, "!")+" "+said.Type, clean(said.Reason), "for "+since)
		t.line("  " + clean(said.Message))
	}
}

// table has a line for each member.
func (c *Cluster) table(t *text) {
	if len(c.Members) == 0 {
		return
	}
	t.line()
	rows := [][]string{{"MEMBER", "ROLE", "NODE", "DB", "IN USE", "QUOTA", "LAG", "FSYNC", "ALARM"}}
	for _, m := range c.Members {
		rows = append(rows, []string{
			m.Name, m.Role, or(m.Node), size(m.DatabaseBytes), size(m.InUseBytes), size(m.QuotaBytes), lag(m), fsync(m), or(strings.Join(m.Alarms, ",")),
		})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, row := range rows {
		for j, cell := range row {
			cell = clean(cell)
			row[j] = cell + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell))
		}
		if i > 0 {
			c.Members[i-1].mark(t, row)
		}
		t.line(row...)
	}
}

// mark colours what to look at first.
func (m Member) mark(t *text, row []string) {
	const name, alarm = 0, 8
	switch {
	case m.Problem != "" || !m.Ready && m.Role != "learner":
		row[name] = t.in(red, row[name])
	case m.Role == "leader":
		row[name] = t.in(bold, row[name])
	}
	if len(m.Alarms) > 0 {
		row[alarm] = t.in(red, row[alarm])
	}
}

// remarks are about what the table has no room for.
func (c *Cluster) remarks(t *text) {
	t.line()
	for _, problem := range c.Problems {
		t.line(t.in(yellow, "!") + " " + clean(problem))
	}
	for _, m := range c.Members {
		if m.Problem != "" {
			t.line(t.in(red, "!") + " " + m.Name + ": " + clean(m.Problem))
		}
		for _, alarm := range m.Alarms {
			t.line(t.in(red, "!") + " " + m.Name + ": " + clean(meaning(alarm)))
		}
	}
	if c.Backups != nil && len(c.Backups) == 0 {
		t.line("No EtcdBackup backs it up.")
	}
	for _, b := range c.Backups {
		t.line(b.line(t, c.now))
	}
}

// meaning is what an alarm of etcd's means.
func meaning(alarm string) string {
	switch alarm {
	case "NOSPACE":
		return "NOSPACE: its database is at its quota, and no member takes writes until there is room and the alarm is disarmed"
	case "CORRUPT":
		return "CORRUPT: its data differ from those of the others"
	default:
		return "alarm " + alarm
	}
}

func (b Backup) line(t *text, now time.Time) string {
	words := "Backup " + b.Name + ": "
	if b.Taken == nil {
		words += "none yet"
	} else {
		words += fmt.Sprintf("%s ago, %s, %s", duration.HumanDuration(now.Sub(*b.Taken)), size(b.Bytes), b.verified())
	}
	if b.Reason != "" || !b.Succeeded && b.Message != "" {
		words = t.in(yellow, "!") + " " + words + "; the last one failed: " + clean(strings.TrimPrefix(b.Reason+": "+b.Message, ": "))
	}
	return words
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

// clean takes out what a terminal would obey: messages may have been written by whoever serves a bucket or an issuer.
func clean(words string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, words)
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

// size is a number of bytes as Kubernetes writes it, rounded.
func size(bytes int64) string {
	const step = 1024
	if bytes == 0 {
		return "-"
	}
	value, unit := float64(bytes), ""
	for _, next := range []string{"Ki", "Mi", "Gi", "Ti"} {
		if value < step {
			break
		}
		value, unit = value/step, next
	}
	const one = 10
	if value < one && unit != "" {
		return fmt.Sprintf("%.1f%s", value, unit)
	}
	return fmt.Sprintf("%.0f%s", value, unit)
}
