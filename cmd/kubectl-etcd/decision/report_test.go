package decision_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/decision"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/documented"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
)

// TestEdits decides again on what an operator has logged of a cluster that is to shrink from three members to one.
func TestEdits(t *testing.T) {
	for title, c := range map[string]struct {
		set        []string
		want, fail string
	}{
		"not to shrink":      {set: []string{"size=3"}, want: "AddToService"},
		"to grow":            {set: []string{"size=5"}, want: "AddToService"},
		"to pause":           {set: []string{"paused=true"}, want: "Idle"},
		"a version too far":  {set: []string{"version=v3.7.3"}, want: "SetBudget"},
		"no number":          {set: []string{"size=many"}, fail: "from 1 to 9"},
		"too many":           {set: []string{"size=10"}, fail: "from 1 to 9"},
		"no such version":    {set: []string{"version=3.5.2"}, fail: "the operator would refuse it"},
		"neither yes nor no": {set: []string{"paused=maybe"}, fail: "true or false"},
		"what is not logged": {set: []string{"tls.managed={}"}, fail: "logs size, version, paused and hibernate"},
		"no value":           {set: []string{"size"}, fail: "such as size=5"},
	} {
		t.Run(title, func(t *testing.T) {
			r, err := decision.Of(logged(t), c.set)
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Now.Action != "SetBudget" || r.Now.Rule != "scaleDown" || r.Now.Guard != "blockEvictions" || r.Next.Action != c.want {
				t.Errorf("decided %+v, and with %s %+v", r.Now, c.set, r.Next)
			}
			var out strings.Builder
			if err := r.Explain(&out); err != nil || !strings.Contains(out.String(), "Decided  ") || strings.Contains(out.String(), "otherwise") {
				t.Errorf("%v, and explained as\n%s", err, out.String())
			}
		})
	}
	p := logged(t)
	p.Observed.Cluster.Invalid = &failure.Problem{Reason: "InvalidPod", Message: "no"}
	if _, err := decision.Of(p, []string{"size=3"}); err == nil || !strings.Contains(err.Error(), "InvalidPod") {
		t.Errorf("of a spec that is refused: %v", err)
	}
}

// TestOtherwise says so if the operator has decided otherwise.
func TestOtherwise(t *testing.T) {
	p := logged(t)
	p.Version = "v9"
	p.Decided = plan.Description{Action: "Idle", Reason: "SpecReached", Message: "\x1b[2Jall is well"}
	r, err := decision.Of(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.Write(&out, p.Observed.Now, false); err != nil || r.Logged == nil || !strings.Contains(out.String(), "decided otherwise") ||
		strings.Contains(out.String(), "\x1b") {
		t.Errorf("%v, and written as\n%q", err, out.String())
	}
}

// TestBlocked leads to what is to be done if the operator waits for somebody.
func TestBlocked(t *testing.T) {
	p := logged(t)
	p.Observed.Etcd.Answers[0].ClusterID++
	r, err := decision.Of(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	const want = "\n          why and what to do: https://github.com/etcdpilot/etcd-operator/blob/main/docs/reasons.md#clusteridmismatch\n"
	if err := r.Write(&out, p.Observed.Now, false); err != nil || r.Now.Action != "Blocked" || strings.Count(out.String(), want) != 1 {
		t.Errorf("%v, and written as\n%s", err, out.String())
	}
}

// TestLast takes the last decision about the very cluster.
func TestLast(t *testing.T) {
	first, second, other := logged(t), logged(t), logged(t)
	second.Version, other.Observed.Cluster.Namespace = "second", "bank"
	got, err := decision.Last([]replay.Pass{first, second, other}, "test", "example")
	if err != nil || got.Version != "second" {
		t.Errorf("got %+v, %v", got.Version, err)
	}
	if _, err := decision.Last([]replay.Pass{other}, "test", "example"); err == nil {
		t.Error("another cluster's is taken")
	}
}

// TestWrite shows what a person sees, and a program.
func TestWrite(t *testing.T) {
	p := logged(t)
	r, err := decision.Of(p, []string{"size=3"})
	if err != nil {
		t.Fatal(err)
	}
	var out, coloured strings.Builder
	if err := r.Write(&out, p.Observed.Now.Add(12*time.Second), false); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(&coloured, p.Observed.Now, true); err != nil || !strings.Contains(coloured.String(), terminal.Bold) {
		t.Errorf("%v, and no colours", err)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line) - 1; n > terminal.Columns {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	documented.Golden(t, "shrink", out.String())
	documented.Shows(t, "kubectl etcd plan example --set size=3", out.String())
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"now":{"action":"SetBudget"`) || !strings.Contains(string(text), `"next":{"action":"AddToService"`) {
		t.Errorf("%v, and for programs %s", err, text)
	}
}

// TestForesees shows all steps of an update, in lines that fit, and why there are none where the model knows too little.
func TestForesees(t *testing.T) {
	p := logged(t)
	o := &p.Observed
	p.Decided, o.Cluster.Size, o.Pods[2].InService = plan.Description{}, 3, true
	for i, node := range []string{"worker-a", "worker-b", "worker-c"} {
		o.Pods[i].Node, o.Pods[i].Ready = node, true
	}
	page := func(set ...string) (*decision.Report, string) {
		r, err := decision.Of(p, set)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := r.Write(&out, o.Now.Add(12*time.Second), false); err != nil {
			t.Fatal(err)
		}
		return r, out.String()
	}
	r, text := page("version=3.7.3")
	documented.Shows(t, "kubectl etcd plan example --set version=3.7.3", text)
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(line) - 1; n > terminal.Columns {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	images := 0
	for _, s := range r.Foreseen.Steps {
		if s.Action == "SetImage" {
			images++
		}
	}
	if images != 3 || r.Foreseen.Steps[0].Action != r.Next.Action || r.Foreseen.End.Reason != "SpecReached" {
		t.Errorf("foreseen %+v", r.Foreseen)
	}
	if _, text := page(); strings.Contains(text, "step by step") || !strings.Contains(text, "Idle (SpecReached)") {
		t.Errorf("nothing is to be done, and it says\n%s", text)
	}
	for i := range o.Etcd.Answers {
		o.Etcd.Answers[i].Alarms = []plan.Alarm{{Kind: plan.AlarmNoSpace, Member: o.Etcd.Members[0].ID}}
	}
	if _, text := page("version=3.7.3"); !strings.Contains(text, "(assumed: somebody disarms the alarm)") {
		t.Errorf("of a full database it says\n%s", text)
	}
	o.Etcd = plan.Etcd{}
	if r, text := page("size=5"); r.Foreseen != nil || !strings.Contains(text, "What follows is not foreseen: no quorum of the members answers.") {
		t.Errorf("without a quorum it says\n%s", text)
	}
}

// logged is what hack/replay is tested with.
func logged(t *testing.T) replay.Pass {
	t.Helper()
	text, err := os.ReadFile("../../../hack/replay/testdata/shrink.log")
	if err != nil {
		t.Fatal(err)
	}
	passes, err := replay.Read(text)
	if err != nil || len(passes) != 1 {
		t.Fatalf("%d passes, %v", len(passes), err)
	}
	return passes[0]
}
