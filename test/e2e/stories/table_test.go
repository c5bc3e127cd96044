package stories

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/history"
)

// fault is a story of something that breaks, or is changed, under a client at work. What every such story has in common
// is told by trial.
type fault struct {
	// family and name select the story, as family/name; title is how the table calls it.
	family, name, title string
	// gate says that the story is told for every change.
	gate bool
	// apart says that it harms nothing but its own cluster, so that another one may be told meanwhile.
	apart bool
	spec  v1beta2.EtcdClusterSpec
	// prepares, if given, makes what the cluster needs before it is created.
	prepares func(t *testing.T)
	// breaks does the harm, waits until it was noticed and undoes it where that is part of the story, and checks what
	// this very fault must or must not have led to. That the cluster is as asked for in the end is checked for all.
	breaks func(*trial)
}

// faults are all stories by family, in the table's order.
var faults = slices.Concat(processFaults, diskFaults, networkFaults, nodeFaults, handFaults, operatorFaults,
	outageFaults, rollFaults, refusalFaults, memoryFaults)

// TestFaults tells the stories that gate a change, or those whose family/name matches the regular expression FAULTS, and
// prints a table of what each cost the client. The table is written to the file FAULT_TABLE too. Selected stories are told one
// after the other: what they cost is to be compared.
func TestFaults(t *testing.T) {
	expression := os.Getenv("FAULTS")
	selected, err := selectFaults(expression)
	must(t, err)
	rows := make([]row, len(selected))
	t.Cleanup(func() { report(t, rows) })
	for i, f := range selected {
		t.Run(f.family+"/"+f.name, func(t *testing.T) {
			if expression == "" && f.apart {
				t.Parallel()
			}
			s := &trial{fault: f}
			defer func() { rows[i] = s.row() }()
			s.tell(t)
		})
	}
}

// report prints the table of the stories that were told.
func report(t *testing.T, rows []row) {
	text := table(slices.DeleteFunc(rows, func(r row) bool { return r.fault == "" }))
	fmt.Print("\n" + text)
	if file := os.Getenv("FAULT_TABLE"); file != "" {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
}

func selectFaults(expression string) ([]fault, error) {
	pattern, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("FAULTS: %w", err)
	}
	var selected []fault
	for _, f := range faults {
		if expression == "" && f.gate || expression != "" && pattern.MatchString(f.family+"/"+f.name) {
			selected = append(selected, f)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("FAULTS=%s selects no story", expression)
	}
	return selected, nil
}

// trial is one telling of a story.
type trial struct {
	*story
	fault
	broken, noticed, mended time.Time
	cost                    harness.Report
	verdict                 history.Verdict
}

// tell starts a cluster and a client, lets the story break it, and measures.
func (s *trial) tell(t *testing.T) {
	ready(t)
	if s.prepares != nil {
		s.prepares(t)
	}
	s.story = begin(t, s.name, s.spec)
	s.settled()
	s.clientBesideOperator()
	s.breaks(s)
	if s.mended.IsZero() {
		s.recover()
	}
	s.settled()
	s.moreReads()
	s.judge()
}

// breaking notes the moment at which the harm is done.
func (s *trial) breaking() {
	s.broken = time.Now()
	_, err := s.writer.Report(s.t.Context())
	must(s.t, err)
}

// noticing notes the moment at which the harm was found out.
func (s *trial) noticing() { s.noticed = time.Now() }

// recover waits until the cluster is as asked for, and notes when. The story calls it itself where it has more to do
// after that.
func (s *trial) recover() {
	s.t.Helper()
	must(s.t, s.Healthy(s.t.Context(), limit))
	s.mended = time.Now()
}

// moreReads lets the client see what became of the data.
func (s *story) moreReads() {
	s.t.Helper()
	const more = 200
	from, err := s.writer.Peek(s.t.Context())
	must(s.t, err)
	good := from.Operations - from.Failures + more
	must(s.t, harness.Await(s.t.Context(), "the client works on", limit, s.worked(good)))
}

// judge takes what the client saw.
func (s *trial) judge() {
	s.t.Helper()
	const patience = time.Minute
	var err error
	s.cost, err = s.writer.Report(s.t.Context())
	must(s.t, err)
	seen, err := s.writer.History(s.t.Context())
	must(s.t, err)
	picture := filepath.Join(env.Root, "bin", "history-"+s.name+".html")
	s.verdict, err = history.Check(seen, patience, picture)
	must(s.t, err)
	s.t.Logf("%s: %s; history of %d operations: %s", s.title, s.cost, len(seen.Operations), s.verdict)
	s.outcome.add(s.cost)
	if s.verdict.Bad() || s.cost.Lost > 0 {
		s.t.Errorf("the history is %s, the writer lost %d writes; see %s", s.verdict, s.cost.Lost, picture)
	}
}

// row is one line of the table.
type row struct{ fault, client, gap, healthy, verdict string }

func (s *trial) row() row {
	r := row{fault: s.family + ": " + s.title, client: "–", gap: "–", healthy: "not healthy", verdict: string(s.verdict)}
	if s.cost.Operations > 0 {
		r.client = fmt.Sprintf("%d of %d", s.cost.Failures, s.cost.Operations)
		r.gap = fmt.Sprintf("%.2f s", float64(s.cost.LongestGapMS)/1000)
	}
	if !s.mended.IsZero() {
		r.healthy = fmt.Sprintf("%.1f s", s.mended.Sub(s.broken).Seconds())
		if !s.noticed.IsZero() {
			r.healthy += fmt.Sprintf(" (noticed after %.1f s)", s.noticed.Sub(s.broken).Seconds())
		}
	}
	if s.story == nil || s.t.Failed() {
		r.verdict = strings.TrimPrefix(r.verdict+", STORY FAILED", ", ")
	}
	return r
}

func table(rows []row) string {
	text := "| fault | operations that failed | longest gap between writes | from the fault to healthy | history |\n" +
		"| --- | --- | --- | --- | --- |\n"
	for _, r := range rows {
		text += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", r.fault, r.client, r.gap, r.healthy, r.verdict)
	}
	return text
}
