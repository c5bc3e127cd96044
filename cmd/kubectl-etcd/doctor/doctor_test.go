package doctor_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/doctor"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/documented"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

const mebibyte = 1 << 20

var (
	now   = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	names = []string{"demo-0", "demo-1", "demo-2"}
	yes   = true
)

// TestHealthy finds nothing to complain of in a cluster that is well.
func TestHealthy(t *testing.T) {
	r := doctor.Examine(healthy())
	for _, f := range r.Findings {
		if f.Verdict != doctor.Good {
			t.Errorf("%s: %s: %s", f.Check, f.Verdict, f.Found)
		}
	}
	if err := r.Err(); err != nil || len(r.Findings) < 19 {
		t.Errorf("%d findings, and the error %v", len(r.Findings), err)
	}
}

// TestChecks changes one thing of a cluster that is well.
func TestChecks(t *testing.T) {
	for title, c := range map[string]struct {
		change  func(*doctor.Facts)
		check   string
		verdict doctor.Verdict
		says    string
	}{
		"a right is missing":     {func(f *doctor.Facts) { f.Rights[1].Allowed = false }, "rights", doctor.Doubtful, `"create" pods/portforward (to ask members)`},
		"rights are unknown":     {func(f *doctor.Facts) { f.Unread[doctor.Rights] = "no" }, "rights", doctor.Unknown, "no"},
		"no operator":            {func(f *doctor.Facts) { f.Cluster.Status.Operator = nil }, "operator", doctor.Doubtful, "no operator"},
		"the operator is gone":   {func(f *doctor.Facts) { f.Lease = doctor.Lease{} }, "operator", doctor.Wrong, "does not exist"},
		"it was shut down":       {func(f *doctor.Facts) { f.Lease.Holder = "" }, "operator", doctor.Wrong, "nobody holds"},
		"it does not renew":      {func(f *doctor.Facts) { f.Lease.Renewed = now.Add(-time.Hour) }, "operator", doctor.Wrong, "last 60m ago"},
		"its clock is wrong":     {func(f *doctor.Facts) { f.Lease.Renewed, f.Lease.Renews = now.Add(-time.Hour), true }, "operator", doctor.Good, "renews"},
		"its Lease is forbidden": {func(f *doctor.Facts) { f.Unread[doctor.Leases] = "forbidden" }, "operator", doctor.Unknown, "forbidden"},
		"it has not seen it":     {func(f *doctor.Facts) { f.Cluster.Generation = 4 }, "operator", doctor.Doubtful, "generation 4"},
		"something is held back": {holds(v1beta2.ReasonAutopilotAdvises), "autopilot", doctor.Doubtful, "noSpace is held: AutopilotAdvises: m"},
		"something waits": {func(f *doctor.Facts) {
			holds(v1beta2.ReasonWaitingForWindow)(f)
			f.Cluster.Spec.MaintenanceWindow = &v1beta2.MaintenanceWindow{Schedule: "0 2 * * 0"}
		}, "autopilot", doctor.Good, "noSpace: WaitingForWindow: m"},
		"there is no window": {holds(v1beta2.ReasonWaitingForWindow), "autopilot", doctor.Doubtful, "noSpace is held: WaitingForWindow: m"},
		"paused":             {func(f *doctor.Facts) { f.Cluster.Spec.Paused = true }, "paused", doctor.Doubtful, "spec.paused"},
		"hibernated":         {func(f *doctor.Facts) { f.Cluster.Status.Hibernation = "Hibernated" }, "paused", doctor.Doubtful, "hibernates"},
		"being deleted": {func(f *doctor.Facts) {
			f.Cluster.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Minute)}
		}, "paused", doctor.Doubtful, "being deleted"},
		"one hangs": {answer("demo-1", func(a *report.Answer) { a.Problem = "deadline exceeded" }), "quorum", doctor.Doubtful, "2 of 3 voters are up"},
		"who hangs": {answer("demo-1", func(a *report.Answer) { a.Problem = "deadline exceeded" }), "members", doctor.Wrong, "demo-1 on worker-b: deadline"},
		"no leader": {all(func(a *report.Answer) { a.Leader = 0 }), "quorum", doctor.Wrong, "0 of 3 voters"},
		"one follows, who may be": {func(f *doctor.Facts) {
			answer("demo-0", func(a *report.Answer) { a.Leader = 0 })(f)
			answer("demo-1", func(a *report.Answer) { a.Leader = 0 })(f)
		}, "quorum", doctor.Wrong, "1 of 3 voters are up"},
		"one is cut off":         {answer("demo-2", func(a *report.Answer) { a.Leader = a.ID }), "members", doctor.Wrong, "another leader"},
		"no members yet":         {func(f *doctor.Facts) { f.Cluster.Status.MemberStatuses = nil }, "quorum", doctor.Doubtful, "no members"},
		"members were not asked": {func(f *doctor.Facts) { f.Answers, f.Unread[doctor.Members] = nil, "forbidden" }, "answers", doctor.Unknown, "forbidden"},
		"status speaks for them": {func(f *doctor.Facts) { f.Answers, f.Unread[doctor.Members] = nil, "forbidden" }, "quorum", doctor.Good, "3 of 3"},
		"two pods are gone":      {podsGone, "quorum", doctor.Wrong, "0 of 3 voters are up"}, // and status says that all are ready, for nobody writes it
		"whose pods are":         {podsGone, "members", doctor.Wrong, "demo-1 on worker-b: it has no pod"},
		"they do not say":        {podsGone, "answers", doctor.Unknown, "of demo-0 are not known: it has no pod"},
		"nor if pods are unlisted": {func(f *doctor.Facts) {
			podsGone(f)
			f.Unread[doctor.Pods] = "forbidden"
		}, "members", doctor.Wrong, "demo-2 on worker-c: it knows no leader"},
		"one was not asked":      {answer("demo-1", func(a *report.Answer) { a.Unasked = "refused" }), "answers", doctor.Unknown, "of demo-1"},
		"it counts all the same": {answer("demo-1", func(a *report.Answer) { a.Unasked = "refused" }), "quorum", doctor.Good, "3 of 3"},
		"no space": {all(func(a *report.Answer) {
			a.Alarms = []report.Alarm{{Kind: "NOSPACE", Member: 12}}
		}), "alarms", doctor.Wrong, "the database of demo-2 has reached its quota"},
		"corrupt": {all(func(a *report.Answer) { a.Alarms = []report.Alarm{{Kind: "CORRUPT", Member: 11}} }), "alarms", doctor.Wrong, "accuses demo-1"},
		"nobody knows whose": {all(func(a *report.Answer) {
			a.Alarms = []report.Alarm{{Kind: "CORRUPT", Member: 0}}
		}), "alarms", doctor.Wrong, "cannot tell whose"},
		"whose is gone": {all(func(a *report.Answer) {
			a.Alarms = []report.Alarm{{Kind: "NOSPACE", Member: 0x1f}}
		}), "alarms", doctor.Wrong, "the database of a member that is gone (1f) has reached"},
		"one says it three times": {answer("demo-0", func(a *report.Answer) {
			a.Alarms = slices.Repeat([]report.Alarm{{Kind: "CORRUPT", Member: 11}}, 3)
		}), "alarms", doctor.Good, "none"},
		"one makes an alarm up": {answer("demo-0", func(a *report.Answer) { a.Alarms = []report.Alarm{{Kind: "CORRUPT", Member: 11}} }), "alarms", doctor.Good, ""},
		"one lags":              {answer("demo-2", func(a *report.Answer) { a.Applied = 100 }), "lag", doctor.Doubtful, "demo-2 is 4900 entries behind"},
		"little room":           {answer("demo-2", func(a *report.Answer) { a.Bytes, a.InUse = 1900*mebibyte, 1800*mebibyte }), "space", doctor.Doubtful, "87 %"},
		"a quota of etcd 3.5":   {all(func(a *report.Answer) { a.Quota = 0 }), "space", doctor.Good, "of its quota of 2.0Gi"},
		"a file of holes":       {answer("demo-2", func(a *report.Answer) { a.Bytes = 1900 * mebibyte }), "fragmentation", doctor.Doubtful, "79 % of the file is free"},
		"a slow disk":           {answer("demo-0", func(a *report.Answer) { a.Fsync = time.Second }), "disk", doctor.Doubtful, "1000 ms"},
		"no metrics":            {all(func(a *report.Answer) { a.Fsync = 0 }), "disk", doctor.Unknown, "metrics"},
		"no metrics of one": {answer("demo-1", func(a *report.Answer) {
			a.Fsync, a.MetricsProblem = 0, "its metrics cannot be read: 404"
		}), "disk", doctor.Unknown, "of demo-1 are is not known: its metrics cannot be read: 404"},
		"a slow network":      {answer("demo-0", func(a *report.Answer) { a.RoundTrips[12] = time.Second }), "network", doctor.Doubtful, "from demo-0 to demo-2"},
		"hashes are the same": {hashed(7, 7, 7), "hashes", doctor.Good, "3 members are the same at revision 900"},
		"data differs":        {hashed(7, 8, 7), "hashes", doctor.Wrong, "hash 00000007 of demo-0, demo-2; hash 00000008 of demo-1"},
		"compacted meanwhile": {func(f *doctor.Facts) { hashed(7, 8, 7)(f); f.Hashes["demo-1"] = doctor.Hash{Value: 8, Compacted: 5} }, "hashes", doctor.Unknown, "compacted"},
		"one does not hash":   {func(f *doctor.Facts) { hashed(7, 7, 7)(f); f.Hashes["demo-1"] = doctor.Hash{Problem: "denied"} }, "hashes", doctor.Unknown, "denied"},
		"two on a node":       {func(f *doctor.Facts) { f.Pods[1].Spec.NodeName = "worker-a" }, "spread", doctor.Doubtful, "without it there is no quorum"},
		"pods are unknown":    {func(f *doctor.Facts) { f.Unread[doctor.Pods] = "forbidden" }, "spread", doctor.Unknown, "forbidden"},
		"no budget":           {func(f *doctor.Facts) { f.Budgets = nil }, "budget", doctor.Doubtful, "does not exist"},
		"another's budget": {func(f *doctor.Facts) {
			f.Budgets = append(f.Budgets, policyv1.PodDisruptionBudget{
				ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}},
			})
		}, "budget", doctor.Doubtful, "all covers demo-0, demo-1, demo-2, too"},
		"a budget for others": {func(f *doctor.Facts) {
			f.Budgets = append(f.Budgets, policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}},
			}})
		}, "budget", doctor.Good, "1 member may be evicted"},
		"a volume goes":       {func(f *doctor.Facts) { f.Volumes[2].DeletionTimestamp = &metav1.Time{Time: now} }, "volumes", doctor.Doubtful, "demo-2 is being deleted"},
		"a volume is gone":    {func(f *doctor.Facts) { f.Volumes = f.Volumes[:2] }, "volumes", doctor.Wrong, "demo-2 does not exist"},
		"a volume is lost":    {func(f *doctor.Facts) { f.Volumes[0].Status.Phase = corev1.ClaimLost }, "volumes", doctor.Wrong, "lost its volume"},
		"a volume pends":      {func(f *doctor.Facts) { f.Volumes[0].Status.Phase = corev1.ClaimPending }, "volumes", doctor.Doubtful, "no volume yet"},
		"no volumes":          {func(f *doctor.Facts) { f.Cluster.Status.Storage = v1beta2.MemberStorageEmptyDir }, "volumes", doctor.Good, "emptyDir"},
		"below the floor":     {all(func(a *report.Answer) { a.Version = "3.5.2" }), "version", doctor.Doubtful, "use 3.5.32 or later"},
		"versions differ":     {answer("demo-1", func(a *report.Answer) { a.Version = "3.6.15" }), "version", doctor.Doubtful, "2 versions"},
		"an update":           {func(f *doctor.Facts) { f.Cluster.Status.TargetVersion = "3.7.3" }, "version", doctor.Good, "to be updated to 3.7.3"},
		"plain text":          {func(f *doctor.Facts) { f.Cluster.Status.TLS, f.Cluster.Spec.TLS = nil, nil }, "certificates", doctor.Good, "plain text"},
		"expired":             {expires(-time.Hour, -2*time.Hour), "certificates", doctor.Wrong, "has expired 60m ago"},
		"renewed late":        {expires(10*24*time.Hour, -2*time.Hour), "certificates", doctor.Doubtful, "expires in 10d"},
		"short ones are fine": {expires(10*24*time.Hour, time.Hour), "certificates", doctor.Good, "in 10d"},
		"not backed up":       {func(f *doctor.Facts) { f.Backups = nil }, "backups", doctor.Doubtful, "no EtcdBackup"},
		"backups are unknown": {func(f *doctor.Facts) { f.Unread[doctor.Backups] = "forbidden" }, "backups", doctor.Unknown, "forbidden"},
		"one backup failed":   {backup(func(b *v1beta2.EtcdBackup) { fails(b) }), "backups", doctor.Doubtful, "AccessDenied"},
		"backups fail":        {backup(func(b *v1beta2.EtcdBackup) { fails(b); b.Status.LastSuccessDate.Time = now.Add(-72 * time.Hour) }), "backups", doctor.Wrong, "3d old"},
		"a storage that speaks to terminals": {backup(func(b *v1beta2.EtcdBackup) {
			fails(b)
			b.Status.Conditions[0].Message = "\x1b]0;title\aAccessDenied"
		}), "backups", doctor.Doubtful, "AccessDenied"},
		"none is due in hibernation": {func(f *doctor.Facts) {
			f.Cluster.Status.Hibernation, f.Backups[0].Status.LastSuccessDate.Time = "Hibernated", now.Add(-72*time.Hour)
		}, "backups", doctor.Good, "the newest is"},
		"backups are late":     {backup(func(b *v1beta2.EtcdBackup) { b.Status.LastSuccessDate.Time = now.Add(-72 * time.Hour) }), "backups", doctor.Wrong, "is late"},
		"a stale backup":       {backup(func(b *v1beta2.EtcdBackup) { b.Status.Snapshots[0].Stale = true }), "backups", doctor.Doubtful, "without a quorum"},
		"backups are off":      {backup(func(b *v1beta2.EtcdBackup) { b.Spec.Suspend = true }), "backups", doctor.Doubtful, "suspended"},
		"degraded":             {condition(v1beta2.ConditionDegraded, metav1.ConditionTrue, v1beta2.ReasonWriteRefused), "conditions", doctor.Wrong, "WriteRefused"},
		"not ready in between": {condition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonUpdating), "conditions", doctor.Doubtful, "Ready is False"},
		"nothing said yet":     {func(f *doctor.Facts) { f.Cluster.Status.Conditions = nil }, "conditions", doctor.Doubtful, "said nothing"},
	} {
		t.Run(title, func(t *testing.T) {
			f := healthy()
			c.change(f)
			r := doctor.Examine(f)
			i := slices.IndexFunc(r.Findings, func(f doctor.Finding) bool {
				return f.Check == c.check && f.Verdict == c.verdict && strings.Contains(f.Found, c.says)
			})
			if i < 0 {
				t.Errorf("not found among %+v", r.Findings)
			}
			if (r.Err() != nil) != (r.Wrong > 0) || c.verdict == doctor.Wrong && r.Err() == nil {
				t.Errorf("the error is %v", r.Err())
			}
			write(t, r)
		})
	}
}

// TestCommands has what cures a full quota ready to be copied, once, with the names filled in.
func TestCommands(t *testing.T) {
	f := healthy()
	all(func(a *report.Answer) {
		a.Alarms, a.Bytes = []report.Alarm{{Kind: "NOSPACE", Member: 10}, {Kind: "NOSPACE", Member: 12}}, 2048*mebibyte
	})(f)
	text := write(t, doctor.Examine(f))
	for _, command := range []string{
		"ctl demo -- del --prefix PREFIX", "ctl demo -- endpoint status -w json", "ctl demo -- compact --physical REVISION", "ctl demo -- alarm disarm",
	} {
		if line := "\n                 kubectl etcd -n app " + command + "\n"; strings.Count(text, line) != 1 {
			t.Errorf("%s is not there once:\n%s", command, text)
		}
	}
	if n := strings.Count(text, " kubectl etcd -n app defrag demo --all\n"); n != 2 { // for the alarms, and for the files of holes
		t.Errorf("it says %d times how to defragment:\n%s", n, text)
	}
}

// TestFormerTLS does not say that a cluster talks in plain text whose TLS is under its former name, before there are certificates.
func TestFormerTLS(t *testing.T) {
	f := healthy()
	f.Cluster.Spec.LegacyTLS, f.Cluster.Spec.TLS, f.Cluster.Status.TLS = f.Cluster.Spec.TLS, nil, nil
	for _, found := range doctor.Examine(f).Findings {
		if found.Check == "certificates" {
			t.Errorf("it says %s", found.Found)
		}
	}
}

// TestNextOnlyIfItActs says nothing of what an operator does that does nothing.
func TestNextOnlyIfItActs(t *testing.T) {
	f := healthy()
	all(func(a *report.Answer) { a.Leader = 0 })(f)
	condition(v1beta2.ConditionProgressing, metav1.ConditionTrue, v1beta2.ReasonRepairing)(f)
	next := func() (n int) {
		for _, f := range doctor.Examine(f).Findings {
			if f.Next != "" {
				n++
			}
		}
		return n
	}
	if next() == 0 {
		t.Error("it does not say what the operator does")
	}
	f.Cluster.Spec.Paused = true
	if n := next(); n != 0 {
		t.Errorf("it says %d times what a paused operator does", n)
	}
}

// TestWrite shows a cluster that is well, and one that is not.
func TestWrite(t *testing.T) {
	sick := healthy()
	all(func(a *report.Answer) { a.Alarms = []report.Alarm{{Kind: "NOSPACE", Member: 12}} })(sick)
	answer("demo-2", func(a *report.Answer) { a.Bytes = 2048 * mebibyte })(sick)
	backup(func(b *v1beta2.EtcdBackup) {
		fails(b)
		b.Status.LastSuccessDate.Time = now.Add(-72 * time.Hour)
	})(sick)
	condition(v1beta2.ConditionDegraded, metav1.ConditionTrue, v1beta2.ReasonNoSpace)(sick)
	sick.Unread[doctor.Budgets] = "poddisruptionbudgets.policy is forbidden"
	for name, f := range map[string]*doctor.Facts{"healthy": healthy(), "sick": sick} {
		t.Run(name, func(t *testing.T) {
			got := write(t, doctor.Examine(f))
			documented.Golden(t, name, got)
			if name == "sick" {
				documented.Shows(t, "kubectl etcd doctor demo", got)
			}
		})
	}
}

// write is the report for a person, which fits a terminal and holds nothing that it obeys, and is the same for programs.
func write(t *testing.T, r *doctor.Report) string {
	t.Helper()
	var out, coloured strings.Builder
	must(t, r.Write(&out, false))
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line) - 1; n > terminal.Columns && len(strings.Fields(line)) > 3 && !strings.Contains(line, ": https://") { // what is copied is in one piece
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	if strings.ContainsAny(out.String(), "\x1b\a") {
		t.Errorf("control characters in\n%q", out.String())
	}
	must(t, r.Write(&coloured, true))
	if !strings.Contains(coloured.String(), terminal.Bold) {
		t.Error("no colours")
	}
	text, err := json.Marshal(r)
	must(t, err)
	if !strings.Contains(string(text), `"findings":[{"check":"rights","verdict":`) {
		t.Errorf("for programs: %s", text)
	}
	return out.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
