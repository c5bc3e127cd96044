package doctor

import (
	"fmt"
	"strings"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// alarms are those that most members know of, whomever they name.
func alarms(f *Facts) []Finding {
	if len(f.spoken()) == 0 {
		return nil
	}
	var found []Finding
	told := map[string]bool{} // kinds
	for _, alarm := range report.Alarms(f.Answers) {
		one := f.alarm(alarm)
		if told[alarm.Kind] { // one cure is for all of them
			one.Commands = nil
		}
		told[alarm.Kind] = true
		one.Runbook = runbook("EtcdWritesRefused")
		found = append(found, one)
	}
	return orGood(found, "none")
}

// alarm is what one means.
func (f *Facts) alarm(alarm report.Alarm) Finding {
	name, known := alarm.Named(f.Cluster.Status.MemberStatuses)
	whose := name
	if !known {
		whose = fmt.Sprintf("a member that is gone (%x)", alarm.Member)
	}
	switch plan.AlarmKind(alarm.Kind) {
	case plan.AlarmNoSpace:
		one := wrong("NOSPACE: no member takes writes, because the database of %s has reached its quota", whose)
		if a := f.Answers[name]; known && spoke(a) {
			one.Found += fmt.Sprintf(": %s of %s, %d %% of it free", terminal.Size(a.Bytes), terminal.Size(f.quota(name)), percent(a.Bytes-a.InUse, a.Bytes))
		}
		one.ByHand = "raise spec.etcd.quotaBackendBytes, or delete keys, compact (header.revision is REVISION) and defragment; then disarm the alarm"
		one.Commands = []string{
			f.command("ctl", "-- del --prefix PREFIX"), f.command("ctl", "-- endpoint status -w json"), f.command("ctl", "-- compact --physical REVISION"),
			f.command("defrag", "--all"), f.command("ctl", "-- alarm disarm"),
		}
		return one
	case plan.AlarmCorrupt:
		one := wrong("CORRUPT: no member takes writes, and what they read may be wrong, because the data of members differs. etcd accuses %s, which may be the wrong one", whose)
		if alarm.Member == 0 {
			one = wrong("CORRUPT: no member takes writes, and what they read may be wrong, because the data of members differs. etcd cannot tell whose is wrong")
		}
		one.Next = "Auto Pilot replaces a member that a majority proves wrong, and disarms the alarm, unless its mode forbids that or status.autopilot.held says why not"
		one.ByHand = "compare the members before any is replaced; then disarm the alarm"
		one.Commands = []string{f.command("doctor", "--hash")}
		return one
	default:
		return wrong("%s is raised, about %s", alarm.Kind, whose)
	}
}

// command is one of this program's about the cluster.
func (f *Facts) command(name string, args ...string) string {
	return strings.Join(append([]string{"kubectl etcd -n", f.Cluster.Namespace, name, f.Cluster.Name}, args...), " ")
}
