package etcdcluster

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// export shows in the metrics what the pass has observed, whether or not it has changed anything or could write the status.
func (p *pass) export() {
	metrics.SetCluster(p.cluster.Namespace, p.cluster.Name, p.exported())
}

// exported is what the metrics show of a cluster. Whatever status has is taken from there, so that the two agree.
func (p *pass) exported() metrics.Cluster {
	c, o := p.cluster, p.observed
	seen := metrics.Cluster{
		UID: string(c.UID), Now: o.Now, Version: c.Status.CurrentVersion, TargetVersion: o.Cluster.Version,
		Size: o.Cluster.Size, Updated: int(c.Status.UpdatedMembers),
		Judged: o.Etcd.Contact == plan.ContactQuorum, Databases: p.databases(), Compared: p.compared,
	}
	for _, m := range c.Status.MemberStatuses {
		switch {
		case m.Role == v1beta2.MemberRoleLearner:
			seen.Learners++
		case m.Role == v1beta2.MemberRoleVoter && m.Ready:
			seen.Ready++
		case m.Role == v1beta2.MemberRoleVoter:
			seen.Unready++
		}
	}
	stopped := c.Status.Hibernation == string(plan.Hibernated) && status.Asleep(&c.Status)
	seen.Up, seen.Margin = c.Status.ClusterID != "" && !stopped && !status.WakesUp(&c.Status, o.Now), -1
	if o.Etcd.Contact == plan.ContactQuorum { // it has answered, whoever is ready
		seen.Margin = max(seen.Ready-plan.Quorum(seen.Ready+seen.Unready), 0)
	}
	for i, kind := range metrics.ConditionTypes {
		if condition := meta.FindStatusCondition(c.Status.Conditions, kind); condition != nil {
			switch condition.Status {
			case metav1.ConditionTrue:
				seen.Conditions[i] = metrics.ConditionTrue
			case metav1.ConditionFalse:
				seen.Conditions[i] = metrics.ConditionFalse
			case metav1.ConditionUnknown:
			}
			if kind == v1beta2.ConditionProgressing {
				seen.Reason = condition.Reason
			}
		}
	}
	seen.NoSpace, seen.Corrupt = alarmed(p.assessment, plan.AlarmNoSpace), alarmed(p.assessment, plan.AlarmCorrupt)
	for _, h := range heldIn(&c.Status) {
		seen.Held = append(seen.Held, metrics.Held{Feature: h.Feature, Waits: onlyWaits(h.Reason, o.Cluster.Autopilot.Window)})
	}
	seen.Replaced, seen.Diverged = keptCounts(&c.Status)
	if p.certified != nil {
		seen.Expiry = firstToExpire(c.Name, p.certified.Certificates)
	}
	return seen
}

// keptCounts are how many volumes are kept that a restore has replaced, and that are of members whose data differed.
func keptCounts(s *v1beta2.EtcdClusterStatus) (replaced, diverged int) {
	for _, v := range s.KeptVolumes {
		if v.Restore == "" {
			diverged++
		} else {
			replaced++
		}
	}
	return replaced, diverged
}

// onlyWaits reports whether what is held for that reason is done as time goes by.
func onlyWaits(reason string, window plan.Window) bool {
	switch reason {
	case v1beta2.ReasonWaitingForBrake, v1beta2.ReasonPatchOnTrial:
		return true
	}
	return reason == v1beta2.ReasonWaitingForWindow && window.Set
}

// alarmed counts the members with an alarm.
func alarmed(known plan.Assessment, kind plan.AlarmKind) (n int) {
	for _, alarm := range known.Alarms {
		if alarm.Kind == kind {
			n++
		}
	}
	return n
}

// databases are those of the members that have answered, with the quota that the spec gives them.
func (p *pass) databases() []metrics.Database {
	options, _ := resources.Options(p.cluster, p.observed.Cluster.Version)
	quota := resources.Quota(options)
	var all []metrics.Database
	for _, answer := range p.observed.Etcd.Answers {
		all = append(all, metrics.Database{Size: answer.DBSize, InUse: answer.DBSizeInUse, Quota: quota})
	}
	return all
}

// firstToExpire is when the first certificate of each use expires. Authorities have uses of their own: leaves of theirs, which expire no
// later, would hide them.
func firstToExpire(cluster string, all []certificates.Info) []metrics.Expiry {
	var first []metrics.Expiry
	for _, info := range all {
		use := info.Use
		if info.Name == certificates.AuthorityName(cluster) {
			use += "-ca"
		}
		i := slices.IndexFunc(first, func(e metrics.Expiry) bool { return e.Use == use })
		switch {
		case i < 0:
			first = append(first, metrics.Expiry{Use: use, At: info.NotAfter})
		case info.NotAfter.Before(first[i].At):
			first[i].At = info.NotAfter
		}
	}
	slices.SortFunc(first, func(a, b metrics.Expiry) int { return cmp.Compare(a.Use, b.Use) })
	return first
}
