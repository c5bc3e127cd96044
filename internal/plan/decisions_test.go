package plan_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

var (
	update = flag.Bool("update", false, "write the golden files")
	dump   = flag.String("dump", "", "the folder to write the decision of every explored state to, a file for each scenario")
	stop   = flag.Uint64("state", 0, "tell of the state with this key, as 0x…, how it is reached and what is decided in it")
)

// frozenFile has a line for each scenario: a digest of all that is decided in it, the number of its states and its title.
const frozenFile = "testdata/decisions.txt"

// decisions are what an exploration of all scenarios has shown.
type decisions struct {
	mu    sync.Mutex
	lines map[string]string // by title
	rules map[string]bool
	// guarded are the guards that have put their own answer in the place of a rule's, and those rules.
	guarded map[[2]string]bool
}

// recorder takes down the decisions of one scenario. The order in which they come does not matter.
type recorder struct {
	digest uint64
	buf    []byte
	lines  []string
	rules  map[string]bool
	// guarded is as in decisions.
	guarded map[[2]string]bool
}

func newRecorder() *recorder {
	return &recorder{rules: map[string]bool{}, guarded: map[[2]string]bool{}}
}

// next is the planner, and notes which rule decides, and which guard.
func (r *recorder) next(o plan.Observed) plan.Action {
	a, rule, guard := plan.DecidedBy(o)
	if !r.rules[rule] {
		r.rules[rule] = true
	}
	if from := [2]string{guard, rule}; guard != "" && !r.guarded[from] {
		r.guarded[from] = true
	}
	return a
}

func (r *recorder) record(key uint64, decided plan.Action) {
	text := world.Notation(decided)
	r.buf = append(binary.BigEndian.AppendUint64(r.buf[:0], key), text...)
	r.digest += xxhash.Sum64(r.buf)
	if *dump != "" {
		r.lines = append(r.lines, fmt.Sprintf("%#016x %s\n", key, text))
	}
}

// write leaves the decisions in a file that can be compared with that of another tree.
func (r *recorder) write(t *testing.T, title string) {
	if *dump == "" {
		return
	}
	slices.Sort(r.lines)
	if err := os.MkdirAll(*dump, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(*dump, strings.NewReplacer(" ", "_", "/", "_").Replace(title))
	if err := os.WriteFile(path, []byte(strings.Join(r.lines, "")), 0o600); err != nil {
		t.Error(err)
	}
}

// add takes the decisions of a scenario.
func (d *decisions) add(title string, states int, r *recorder) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines[title] = fmt.Sprintf("%016x %7d %s", r.digest, states, title)
	maps.Copy(d.rules, r.rules)
	maps.Copy(d.guarded, r.guarded)
}

// compare holds the decisions against the frozen ones. All reports whether every scenario was explored.
func (d *decisions) compare(t *testing.T, all bool) {
	frozen := map[string]string{}
	text, err := os.ReadFile(frozenFile)
	if err != nil && !*update {
		t.Error(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		frozen[line[min(len(line), len("0123456789abcdef 1234567 ")):]] = line
	}
	if *update {
		writeFrozen(t, frozen, d.lines, all)
		return
	}
	for title, line := range d.lines {
		if line != frozen[title] {
			t.Errorf("it is decided otherwise than before: CONTRIBUTING.md says how to find out where\n now: %s\nthen: %s",
				line, frozen[title])
		}
	}
	for title := range frozen {
		if _, ok := d.lines[title]; all && !ok {
			t.Errorf("%s has a line for %q, which is no scenario", frozenFile, title)
		}
	}
}

func writeFrozen(t *testing.T, frozen, now map[string]string, all bool) {
	if all {
		frozen = map[string]string{}
	}
	maps.Copy(frozen, now)
	var text strings.Builder
	for _, title := range slices.Sorted(maps.Keys(frozen)) {
		text.WriteString(frozen[title] + "\n")
	}
	if err := os.WriteFile(frozenFile, []byte(text.String()), 0o600); err != nil {
		t.Error(err)
	}
}

// checkRules wants every rule to decide somewhere.
func (d *decisions) checkRules(t *testing.T) {
	for _, rule := range plan.Rules() {
		if !d.rules[rule] {
			t.Errorf("rule %s decides in no explored world: it is not needed, or the world lacks what it looks at", rule)
		}
	}
}

// guarded are the guards, and the rules whose answers they are known to take the place of.
var guarded = map[string][]string{
	"awaitDefragmentation": {"membership/scaleDown", "updates/updateUnavailableMember"},
	"requireQuorum":        {"membership/scaleDown", "repair/updateUnstartablePod", "updates/updateUnavailableMember"},
	"blockEvictions": {
		"leadership/restartHungMember", "membership/makeRoom", "membership/quarantine", "membership/removeLostMember", "membership/scaleDown",
		"repair/updateUnstartablePod", "updates/defragment", "updates/updateNextMember", "updates/updateUnavailableMember",
	},
	"learnFromTheRight": {"membership/promoteLearner", "scaleUp/addLearner", "scaleUp/permitLearners"},
	"raiseBudgetFirst":  {"membership/promoteLearner"},
	"commitVotersFirst": {"membership/promoteLearner", "membership/quarantine", "membership/removeLostMember", "membership/scaleDown"},
}

// checkGuards wants each guard to stand in for exactly those rules.
func (d *decisions) checkGuards(t *testing.T) {
	found := map[string][]string{}
	for from := range d.guarded {
		found[from[0]] = append(found[from[0]], from[1])
	}
	for guard := range found {
		slices.Sort(found[guard])
	}
	if !reflect.DeepEqual(found, guarded) {
		t.Errorf("guards take the place of %q, not of %q", found, guarded)
	}
}
