package autopilot

import (
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

const (
	// column is where what is said of a feature begins, and shown how many events a person sees.
	column = 16
	shown  = 10
)

// Write writes the report for a person.
func (r *Report) Write(out io.Writer, coloured bool) error {
	p := &terminal.Page{Coloured: coloured}
	p.Line(p.In(terminal.Bold, terminal.Clean(r.Name)), r.summary())
	p.Line()
	for _, f := range r.Features {
		text := f.Mode
		if f.By != "" {
			text += ", by " + f.By
		}
		p.Paragraph(f.Name, len(f.Name), column, text)
	}
	if r.Window != nil {
		p.Paragraph("window", len("window"), column, r.Window.sentence(r.now))
	}
	const begun = "under way"
	for _, b := range r.UnderWay {
		p.Paragraph(begun, len(begun), column, fmt.Sprintf("%s, for %s: %s", b.Feature, duration.HumanDuration(r.now.Sub(b.Since.Time)), b.To))
	}
	for _, c := range r.Conditions {
		p.Paragraph(c.Type, len(c.Type), column, fmt.Sprintf("%s, %s: %s", c.Status, terminal.Clean(c.Reason), c.Message))
	}
	for _, h := range r.Held {
		p.Line()
		p.Paragraph(p.In(terminal.Yellow, "!")+" "+terminal.Clean(h.Feature), len(h.Feature)+2, column+2,
			fmt.Sprintf("%s, for %s", h.Reason, duration.HumanDuration(r.now.Sub(h.Since.Time))))
		p.Paragraph("", 0, column+2, h.Message)
		if todo := reasons.Of(h.Reason).Todo; todo != "" {
			p.Paragraph("", 0, column+2, "what to do: "+todo)
		}
		reasons.Write(p, column+2, h.Reason)
	}
	r.recovery(p)
	r.lately(p)
	for _, problem := range r.Problems {
		p.Paragraph(p.In(terminal.Yellow, "!"), 1, 2, problem)
	}
	_, err := io.WriteString(out, p.String())
	return err
}

func (r *Report) summary() string {
	switch n := len(r.Held); n {
	case 0:
		if r.Recovery != nil {
			return "the quorum is lost, and a recovery waits for you"
		}
		return "Auto Pilot holds nothing back"
	case 1:
		return "Auto Pilot holds one thing back"
	default:
		return fmt.Sprintf("Auto Pilot holds %d things back", n)
	}
}

// recovery says what could be done about a lost quorum, what it would cost, and how it is confirmed.
func (r *Report) recovery(p *terminal.Page) {
	if r.Recovery == nil {
		return
	}
	p.Line()
	p.Paragraph(p.In(terminal.Red, "!")+" recovery", len("! recovery"), column+2, "if no more members can be brought back, "+r.Recovery.Message)
}

// lately lists the newest events.
func (r *Report) lately(p *terminal.Page) {
	if r.Events == nil {
		return
	}
	p.Line()
	if len(r.Events) == 0 {
		p.Line("Kubernetes has no events of it: it keeps them for an hour by default.")
		return
	}
	for _, e := range r.Events[:min(shown, len(r.Events))] {
		ago := duration.HumanDuration(r.now.Sub(e.Time)) + " ago"
		p.Paragraph(ago, len(ago), column, terminal.Clean(e.Reason)+": "+e.Message)
	}
	if more := len(r.Events) - shown; more > 0 {
		p.Line(fmt.Sprintf("and %d earlier ones: -o json has all", more))
	}
}

func (w *Window) sentence(now time.Time) string {
	text := fmt.Sprintf("%q", w.Schedule)
	if w.TimeZone != "" {
		text += " " + w.TimeZone
	}
	text += " for " + w.Duration.Duration.String()
	at := func(t time.Time) string {
		return fmt.Sprintf("in %s, at %s", duration.HumanDuration(t.Sub(now)), t.UTC().Format(time.RFC3339))
	}
	switch {
	case w.Problem != "":
		return text + ": cannot be read, so the former one, if any, is in force: " + w.Problem
	case w.Open:
		return text + ": open; it closes " + at(*w.Ends)
	}
	return text + ": closed; it opens " + at(*w.Next)
}
