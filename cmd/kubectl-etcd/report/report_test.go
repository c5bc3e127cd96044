package report_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/documented"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

const (
	mebibyte = 1 << 20
	// columns is how wide a terminal is that nobody made wider.
	columns = 80
)

// none are the EtcdBackups of who has none, and may know that.
var none = []v1beta2.EtcdBackup{}

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// TestWrite compares what a person sees with what was looked at, and found to be good.
func TestWrite(t *testing.T) {
	for name, c := range map[string]*report.Cluster{
		"healthy":   report.Of(cluster(3), answers(3), []v1beta2.EtcdBackup{backup()}, nil, now),
		"new":       report.Of(unborn(), nil, none, nil, now),
		"nospace":   report.Of(cluster(3), full(), none, nil, now),
		"noquorum":  report.Of(cluster(1), silent(), []v1beta2.EtcdBackup{failed()}, nil, now),
		"paused":    report.Of(paused(), answers(3), none, nil, now),
		"held":      report.Of(heldBack(), answers(3), []v1beta2.EtcdBackup{backup()}, nil, now),
		"nometrics": report.Of(cluster(3), unmeasured(), none, nil, now),
		"unasked":   report.Of(cluster(3), unasked(), none, nil, now),
		"long":      report.Of(long(), answers(3), none, nil, now),
		"forbidden": report.Of(cluster(3), nil, nil, []string{"the members were not asked: you may not"}, now),
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			must(t, c.Write(&out, false))
			documented.Golden(t, name, out.String())
			if name == "healthy" {
				documented.Shows(t, "kubectl etcd status demo", out.String())
			}
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(line); n > columns+1 && !strings.Contains(line, "https://") { // what is copied is in one piece
					t.Errorf("a line of %d columns: %s", n, line)
				}
			}
			var coloured strings.Builder
			must(t, c.Write(&coloured, true))
			if stripped := strip(coloured.String()); stripped != out.String() {
				t.Errorf("with colours, it is\n%s", stripped)
			}
		})
	}
}

// TestMembersSpeakForThemselves prefers what a member says to what the operator has seen of it.
func TestMembersSpeakForThemselves(t *testing.T) {
	seen := answers(3)
	a := seen["demo-1"]
	a.Leader, a.Version = a.ID, "3.7.3"
	seen["demo-1"] = a
	delete(seen, "demo-2")
	got := report.Of(cluster(3), seen, nil, nil, now).Members
	if got[1].Role != "leader" || got[1].Version != "3.7.3" {
		t.Errorf("demo-1 is %+v", got[1])
	}
	if got[2].Role != "voter" || got[2].DatabaseBytes != 400*mebibyte || got[2].Version != "3.6.16" {
		t.Errorf("demo-2, which was not asked, is %+v", got[2])
	}
}

// TestJSON has names for programs, and nothing that is null.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(report.Of(unborn(), nil, none, nil, now))
	must(t, err)
	if !strings.Contains(string(text), `"members":[]`) || !strings.Contains(string(text), `"backups":[]`) {
		t.Errorf("got %s", text)
	}
	text, err = json.Marshal(report.Of(cluster(3), unmeasured(), none, nil, now))
	must(t, err)
	if !strings.Contains(string(text), `"metricsProblem":"its metrics cannot be read: GET /metrics: 404 Not Found"`) {
		t.Errorf("got %s", text)
	}
}

// cluster is one of three members of which the first are ready.
func cluster(ready int) *v1beta2.EtcdCluster {
	const size = 3
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "demo"}}
	c.Status.CurrentVersion = "3.6.16"
	for i := range size {
		m := v1beta2.MemberStatus{
			Name: []string{"demo-0", "demo-1", "demo-2"}[i], ID: member.ID(i + 10).String(), Role: v1beta2.MemberRoleVoter, Ready: i < ready,
			Leader: i == 0 && ready > 1, Node: "worker-" + []string{"a", "b", "c"}[i], Version: "3.6.16", DBSize: resource.NewQuantity(400*mebibyte, resource.BinarySI),
		}
		if i >= ready {
			m.Message = "its pod waits for a node: 0/3 nodes are available"
		}
		c.Status.MemberStatuses = append(c.Status.MemberStatuses, m)
	}
	since := metav1.NewTime(now.Add(-4*time.Hour - 12*time.Minute))
	c.Status.Conditions = []metav1.Condition{
		{Type: v1beta2.ConditionReady, Status: metav1.ConditionTrue, Reason: "SpecReached", Message: "3 of 3 members are healthy", LastTransitionTime: since},
		{Type: v1beta2.ConditionDegraded, Status: metav1.ConditionFalse, Reason: "SpecReached", LastTransitionTime: since},
	}
	if ready <= size/2 {
		c.Status.Conditions = []metav1.Condition{
			{
				Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: "QuorumLost", Message: "1 of 3 members is healthy: waiting for demo-1 and demo-2",
				LastTransitionTime: since,
			},
			{
				Type: v1beta2.ConditionDegraded, Status: metav1.ConditionTrue, Reason: "QuorumLost",
				Message: "no majority of the members answers", LastTransitionTime: since,
			},
		}
	}
	return c
}

// long is one with long names.
func long() *v1beta2.EtcdCluster {
	c := cluster(3)
	for i := range c.Status.MemberStatuses {
		c.Status.MemberStatuses[i].Node = "ip-10-0-12-" + strings.Repeat("1", i+1) + ".eu-central-1.compute.internal"
	}
	c.Status.MemberStatuses[2].Name = strings.Repeat("configuration-", 3) + "2"
	c.Status.Conditions[0].Message = "3 of 3 members are healthy, and this is a message that has more to say than fits into a line"
	return c
}

// paused is one of which a stranger has had a say.
func paused() *v1beta2.EtcdCluster {
	c := cluster(3)
	c.Spec.Paused = true
	c.Status.Conditions[1].Status, c.Status.Conditions[1].Message = metav1.ConditionTrue, "they say: \x1b]0;title\a\x1b[2J and\nmore"
	return c
}

func unborn() *v1beta2.EtcdCluster {
	return &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "demo"}}
}

func answers(n int) map[string]report.Answer {
	all := map[string]report.Answer{}
	for i := range n {
		all[[]string{"demo-0", "demo-1", "demo-2"}[i]] = report.Answer{
			ID: uint64(10 + i), Leader: 10, Version: "3.6.16", Bytes: 412 * mebibyte, InUse: 388 * mebibyte, Quota: 2048 * mebibyte,
			Index: 5000, Applied: 5000 - uint64(i), Fsync: 1200 * time.Microsecond,
		}
	}
	return all
}

func full() map[string]report.Answer {
	all := answers(3)
	for name, a := range all {
		a.Alarms = []report.Alarm{{Kind: "NOSPACE", Member: 12}}
		if name == "demo-2" {
			a.Bytes = 2048 * mebibyte
		}
		all[name] = a
	}
	return all
}

// unmeasured is one of which a member answers, and its metrics cannot be read.
func unmeasured() map[string]report.Answer {
	all := answers(3)
	a := all["demo-1"]
	a.Fsync, a.MetricsProblem = 0, "its metrics cannot be read: GET /metrics: 404 Not Found"
	all["demo-1"] = a
	return all
}

func silent() map[string]report.Answer {
	all := answers(1)
	a := all["demo-0"]
	a.Leader = 0
	all["demo-0"] = a
	all["demo-1"] = report.Answer{Problem: "etcd does not answer: context deadline exceeded"}
	return all
}

// unasked is one of which the tunnel to a member does not open, and another one makes an alarm up.
func unasked() map[string]report.Answer {
	all := answers(2)
	all["demo-2"] = report.Answer{Unasked: "forward ports of demo-2: the connection was refused"}
	a := all["demo-1"]
	a.Alarms = []report.Alarm{{Kind: "CORRUPT", Member: 10}}
	all["demo-1"] = a
	return all
}

func backup() v1beta2.EtcdBackup {
	b := v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}}
	b.Status.Succeeded = true
	b.Status.Snapshots = []v1beta2.SnapshotStatus{{
		CreationTime: metav1.NewTime(now.Add(-6 * time.Hour)), StoredSizeBytes: 388 * mebibyte, Verification: v1beta2.VerifyRestore,
	}}
	return b
}

// heldBack is a cluster for which Auto Pilot has found something to do, and does not do it.
func heldBack() *v1beta2.EtcdCluster {
	c := cluster(3)
	c.Status.Autopilot = &v1beta2.AutopilotStatus{Held: []v1beta2.HeldAct{{Feature: "defragment", Reason: v1beta2.ReasonWaitingForWindow}}}
	return c
}

func failed() v1beta2.EtcdBackup {
	b := backup()
	b.Status.Succeeded, b.Status.Reason = false, "StorageAccessDenied"
	b.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionBackedUp, Status: metav1.ConditionFalse, Message: "s3://b/demo: AccessDenied"}}
	return b
}

// strip takes the colours out.
func strip(text string) string {
	for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[33m"} {
		text = strings.ReplaceAll(text, code, "")
	}
	return text
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPodless does not count a member as ready that has no pod, although the operator, which is down since then, has said that it is.
func TestPodless(t *testing.T) {
	seen := answers(3)
	delete(seen, "demo-0")
	delete(seen, "demo-1")
	pods := []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "demo-2"}}}
	got := report.Of(cluster(3), report.WithPodless(cluster(3), pods, seen), nil, nil, now)
	if got.ReadyVoters != 1 || got.MayFail != -1 || got.Members[0].Problem != "it has no pod" || got.Members[2].Problem != "" {
		t.Errorf("it is %+v", got)
	}
	of := report.WithPodless(cluster(1), nil, nil)["demo-1"]
	if of.Problem != "it has no pod: its pod waits for a node: 0/3 nodes are available" {
		t.Errorf("demo-1 is %+v", of)
	}
}

// TestUnknownAlarms shows alarms that etcd has of nobody, and of a member that is gone, but none that one member has made up.
func TestUnknownAlarms(t *testing.T) {
	seen := answers(3)
	for name, a := range seen {
		a.Alarms = []report.Alarm{{Kind: "CORRUPT"}, {Kind: "NOSPACE", Member: 0x1f}}
		if name == "demo-0" {
			a.Alarms = append(a.Alarms, report.Alarm{Kind: "NOSPACE", Member: 11}, report.Alarm{Kind: "NOSPACE", Member: 11})
		}
		seen[name] = a
	}
	got := report.Of(cluster(3), seen, none, nil, now)
	var out strings.Builder
	must(t, got.Write(&out, false))
	said := strings.Join(strings.Fields(out.String()), " ") // whatever its lines are
	for _, want := range []string{"! etcd cannot tell whose alarm it is: CORRUPT: the data of members differs; none takes writes until", "! an alarm of the member 1f, which is none of these: NOSPACE: "} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if len(got.Alarms) != 2 || len(got.Members[1].Alarms) != 0 {
		t.Errorf("it is %+v", got)
	}
}
