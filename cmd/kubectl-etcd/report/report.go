// Package report puts together what the operator and the members say of a cluster, for a person and for programs. It asks nobody.
package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Answer is what a member says of itself.
type Answer struct {
	// ID is the member's, and Leader that of the leader, 0 if it knows none.
	ID, Leader uint64
	// Version of etcd.
	Version string
	Learner bool
	// Bytes is the size of the database's file, InUse how much of it is used, and Quota what it may have. Before etcd 3.6 the quota is 0.
	Bytes, InUse, Quota int64
	// Index is the last entry of its log, and Applied the last one whose effect it serves.
	Index, Applied uint64
	// Fsync is how long 99 of 100 writes to its log take at most; 0 if unknown.
	Fsync time.Duration
	// RoundTrips are how long 99 of 100 of them to the other members take at most, by the ID of those, as far as known.
	RoundTrips map[uint64]time.Duration
	// MetricsProblem says why those two are not known, empty if they are.
	MetricsProblem string
	// Revision is the last one that it has.
	Revision int64
	// Alarms are those of all members that this one knows of.
	Alarms []Alarm
	// Podless is true if there is nothing to ask: the member has no pod.
	Podless bool
	// Problem says why it does not answer, and Unasked why it could not be asked: then nothing more is known than status says.
	Problem, Unasked string
}

// Alarm is an alarm of a member, of a kind such as NOSPACE.
type Alarm struct {
	Kind   string
	Member uint64
}

// Cluster is the report about an EtcdCluster.
type Cluster struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"`
	// TargetVersion is what the cluster is being updated to, if that is another one.
	TargetVersion string `json:"targetVersion,omitempty"`
	// Voters is how many members vote, ReadyVoters how many of them are ready, and MayFail how many of these the cluster can do without;
	// negative without a quorum.
	Voters      int `json:"voters"`
	ReadyVoters int `json:"readyVoters"`
	MayFail     int `json:"mayFail"`
	// Paused is true while the operator is to change nothing.
	Paused bool `json:"paused,omitempty"`
	// Hibernation is Hibernated while all members are stopped on purpose, and Waking as they start again.
	Hibernation string `json:"hibernation,omitempty"`
	// Conditions are the operator's, as they are in status.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Members    []Member           `json:"members"`
	// Held is what Auto Pilot has found to do and does not do, as it is in status.
	Held []v1beta2.HeldAct `json:"held,omitempty"`
	// Alarms are those that name none of the members.
	Alarms []UnknownAlarm `json:"alarms,omitempty"`
	// Backups are absent if they could not be read.
	Backups []Backup `json:"backups,omitzero"`
	// Problems say what could not be read.
	Problems []string `json:"problems,omitempty"`

	now time.Time
}

// Member is the report about one.
type Member struct {
	Name string `json:"name"`
	// Role is leader, voter, learner or none.
	Role    string `json:"role"`
	Node    string `json:"node,omitempty"`
	Version string `json:"version,omitempty"`
	Ready   bool   `json:"ready"`
	// DatabaseBytes is the size of the file, InUseBytes how much of it is used.
	DatabaseBytes int64 `json:"databaseBytes,omitempty"`
	InUseBytes    int64 `json:"inUseBytes,omitempty"`
	QuotaBytes    int64 `json:"quotaBytes,omitempty"`
	// Lag is how many entries of the log it has still to apply, compared with the furthest member; absent if it was not asked.
	Lag *uint64 `json:"lag,omitempty"`
	// FsyncSeconds is how long 99 of 100 writes to its log take at most, and MetricsProblem why that is not known although the member answers.
	FsyncSeconds   float64  `json:"fsyncSeconds,omitempty"`
	MetricsProblem string   `json:"metricsProblem,omitempty"`
	Alarms         []string `json:"alarms,omitempty"`
	// Problem says why it is not ready, or did not answer.
	Problem string `json:"problem,omitempty"`
}

// Backup is the report about an EtcdBackup.
type Backup struct {
	Name      string `json:"name"`
	Succeeded bool   `json:"succeeded"`
	// Reason and Message say why the last one failed.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Taken is when the newest snapshot was.
	Taken        *time.Time           `json:"taken,omitempty"`
	Bytes        int64                `json:"bytes,omitempty"`
	Verification v1beta2.Verification `json:"verification,omitempty"`
	Stale        bool                 `json:"stale,omitempty"`
}

// Of is the report about a cluster whose members gave these answers, by pod. Problems say what could not be read; backups are nil then.
func Of(c *v1beta2.EtcdCluster, answers map[string]Answer, backups []v1beta2.EtcdBackup, problems []string, now time.Time) *Cluster {
	r := &Cluster{
		Namespace: c.Namespace, Name: c.Name, Version: c.Status.CurrentVersion, TargetVersion: c.Status.TargetVersion,
		Paused: c.Spec.Paused, Hibernation: c.Status.Hibernation, Conditions: c.Status.Conditions, Members: []Member{}, Problems: problems, now: now,
	}
	if c.Status.Autopilot != nil {
		r.Held = c.Status.Autopilot.Held
	}
	furthest := uint64(0)
	for _, a := range answers {
		furthest = max(furthest, a.Index)
	}
	for _, m := range c.Status.MemberStatuses {
		r.Members = append(r.Members, memberOf(m, answers, furthest))
		if m.Role == v1beta2.MemberRoleVoter {
			r.Voters++
		}
	}
	slices.SortFunc(r.Members, func(a, b Member) int { return cmp.Or(len(a.Name)-len(b.Name), strings.Compare(a.Name, b.Name)) })
	r.alarms(c.Status.MemberStatuses, Alarms(answers))
	for _, m := range r.Members {
		if m.Ready {
			r.ReadyVoters++
		}
	}
	r.MayFail = r.ReadyVoters - (r.Voters/2 + 1)
	if backups != nil {
		r.Backups = []Backup{}
	}
	for _, b := range backups {
		r.Backups = append(r.Backups, backupOf(b))
	}
	return r
}

func memberOf(m v1beta2.MemberStatus, answers map[string]Answer, furthest uint64) Member {
	out := Member{
		Name: m.Name, Role: strings.ToLower(string(m.Role)), Node: m.Node, Version: m.Version, Ready: m.Ready, Problem: m.Message,
	}
	if m.Leader {
		out.Role = "leader"
	}
	if m.DBSize != nil {
		out.DatabaseBytes = m.DBSize.Value()
	}
	a, asked := answers[m.Name]
	if !asked {
		return out
	}
	if a.Unasked != "" {
		out.Problem = "not asked: " + a.Unasked
		return out
	}
	if a.Problem != "" {
		out.Ready, out.Problem = false, a.Problem
		return out
	}
	out.Version, out.DatabaseBytes, out.InUseBytes, out.QuotaBytes = a.Version, a.Bytes, a.InUse, a.Quota
	lag := furthest - min(furthest, a.Applied)
	out.Lag, out.Role = &lag, roleOf(a)
	out.FsyncSeconds, out.MetricsProblem = a.Fsync.Seconds(), a.MetricsProblem
	return out
}

func roleOf(a Answer) string {
	switch {
	case a.Learner:
		return "learner"
	case a.Leader == a.ID:
		return "leader"
	default:
		return "voter"
	}
}

func backupOf(b v1beta2.EtcdBackup) Backup {
	out := Backup{Name: b.Name, Succeeded: b.Status.Succeeded, Reason: b.Status.Reason}
	if c := meta.FindStatusCondition(b.Status.Conditions, v1beta2.ConditionBackedUp); c != nil && c.Status != metav1.ConditionTrue {
		out.Message = c.Message
	}
	if len(b.Status.Snapshots) > 0 {
		s := b.Status.Snapshots[0]
		out.Taken, out.Bytes, out.Verification, out.Stale = &s.CreationTime.Time, s.StoredSizeBytes, s.Verification, s.Stale
	}
	return out
}
