package doctor

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

// marks are what verdicts look like, in the order in which findings are listed.
var marks = []struct {
	verdict      Verdict
	mark, colour string
}{
	{Wrong, "✗", terminal.Red},
	{Doubtful, "!", terminal.Yellow},
	{Unknown, "?", terminal.Yellow},
	{Good, "✓", terminal.Green},
}

// column is where what was found begins.
const column = 17

// Write writes the report for a person, the worst first.
func (r *Report) Write(out io.Writer, coloured bool) error {
	p := &terminal.Page{Coloured: coloured}
	p.Line(p.In(terminal.Bold, terminal.Clean(r.Name)), terminal.Clean(r.Version), r.summary())
	p.Line()
	for _, m := range marks {
		for _, f := range r.Findings {
			if f.Verdict != m.verdict {
				continue
			}
			p.Paragraph(p.In(m.colour, m.mark)+" "+f.Check, utf8.RuneCountInString(m.mark)+1+len(f.Check), column, f.Found)
			f.advise(p)
		}
	}
	_, err := io.WriteString(out, p.String())
	return err
}

// advise writes what is done about it. Commands and addresses stay in one piece, to be copied.
func (f Finding) advise(p *terminal.Page) {
	for _, more := range []struct{ name, text string }{{"next: ", f.Next}, {"by hand: ", f.ByHand}} {
		if more.text != "" {
			p.Paragraph("", 0, column, more.name+more.text)
		}
	}
	margin := strings.Repeat(" ", column)
	for _, command := range f.Commands {
		p.Line(margin + terminal.Clean(command))
	}
	if f.Why != "" {
		p.Line(margin + reasons.Lead + f.Why)
	}
	if f.Runbook != "" {
		p.Line(margin + "see " + f.Runbook)
	}
}

func (r *Report) summary() string {
	switch {
	case r.Wrong > 0:
		return fmt.Sprintf("%d wrong, %d doubtful", r.Wrong, r.Doubtful)
	case r.Doubtful > 0:
		return fmt.Sprintf("nothing is wrong, %d doubtful", r.Doubtful)
	case r.Unknown > 0:
		return "nothing is wrong, as far as known"
	}
	return "all is well"
}
