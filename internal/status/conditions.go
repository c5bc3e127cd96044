package status

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// verdict is the content of one condition.
type verdict struct {
	holds           bool
	reason, message string
}

func setConditions(s *v1beta2.EtcdClusterStatus, in Input) {
	dropOthers(s, in)
	set := func(kind string, v verdict) {
		value := metav1.ConditionFalse
		if v.holds {
			value = metav1.ConditionTrue
		}
		setCondition(&s.Conditions, metav1.Condition{
			Type: kind, Status: value, Reason: v.reason, Message: v.message,
			ObservedGeneration: in.Cluster.Generation, LastTransitionTime: now(in.Observed),
		})
	}
	reason, message := words(in)
	up, progress := available(s, in, reason, message), progressing(in, reason, message)
	trouble := withRejected(degraded(s, in, reason, message), rejected(in))
	set(v1beta2.ConditionReady, ready(in, up, progress, trouble))
	set(v1beta2.ConditionAvailable, up)
	set(v1beta2.ConditionProgressing, progress)
	set(v1beta2.ConditionDegraded, trouble)
	if in.Certificates != nil {
		set(v1beta2.ConditionCertificatesValid, certificatesValid(in))
	}
	if v := authenticated(s, in); v != nil {
		set(v1beta2.ConditionAuthenticated, *v)
	}
	setAnomaly(s, in)
	setQuorumLost(s, in.Observed)
}

// ready holds for a cluster that is available and matches the spec, and whose own certificates have not expired: with one that has, a
// connection that breaks does not come back. Its reason and message are always the most important ones:
// kubectl get shows them.
func ready(in Input, up, progress, trouble verdict) verdict {
	v := progress
	if trouble.holds {
		v = trouble
	}
	v.holds = up.holds && progress.reason == v1beta2.ReasonSpecReached && len(rejected(in)) == 0 && !expired(in)
	if s := switching(in); s != "" {
		v.message += "; " + s
	}
	if in.Cluster.Spec.Hibernate && in.Observed.Cluster.Hibernation != plan.Hibernated && in.Observed.Cluster.ID != 0 {
		v.message += "; spec.hibernate waits until all members are healthy and nothing else is under way"
		if by := in.Observed.Cluster.BackingUp; by != "" {
			v.message += ": " + by + " is taking a snapshot"
		}
	}
	return v
}

// dropOthers removes conditions that are not set here any more: those of coreos/etcd-operator's own types and form, including those
// without a time, because a condition that does not change would keep that, and without TLS the one about certificates.
func dropOthers(s *v1beta2.EtcdClusterStatus, in Input) {
	s.Conditions = slices.DeleteFunc(slices.Clone(s.Conditions), func(c metav1.Condition) bool {
		switch c.Type {
		case v1beta2.ConditionReady, v1beta2.ConditionAvailable, v1beta2.ConditionProgressing, v1beta2.ConditionDegraded:
			return c.LastTransitionTime.IsZero()
		case v1beta2.ConditionCertificatesValid:
			return in.Certificates == nil
		case v1beta2.ConditionAuthenticated:
			return s.Auth == nil
		case v1beta2.ConditionAnomaly:
			return false // setAnomaly decides
		}
		return true
	})
}

func hasClusterID(s *v1beta2.EtcdClusterStatus) bool { return s.ClusterID != "" }

// replaced reports whether the cluster has been up, and is being restarted from a snapshot.
func replaced(s *v1beta2.EtcdClusterStatus) bool {
	return !hasClusterID(s) && s.Former != nil && s.Former.ClusterID != ""
}

func available(s *v1beta2.EtcdClusterStatus, in Input, reason, message string) verdict {
	alarm := alarmOf(s, in)
	switch {
	case alarm != nil: // its servers answer, and refuse what clients want: a Kubernetes on this etcd is down
		return verdict{false, alarm.Reason, alarm.Message}
	case hasClusterID(s) && in.Observed.Etcd.Contact == plan.ContactQuorum: // also of members that are about to be stopped
		return verdict{true, v1beta2.ReasonHasQuorum, "a quorum of the voters answers"}
	case hibernates(s):
		return verdict{false, v1beta2.ReasonHibernated, asleep}
	case hasClusterID(s) && in.Cluster.Spec.Paused:
		return verdict{false, v1beta2.ReasonQuorumLost, "no quorum answers, and reconciliation is paused: set spec.paused to false to resume it"}
	case hasClusterID(s):
		return verdict{false, withoutQuorum(s), message}
	case in.Err != nil && replaced(s):
		return verdict{false, v1beta2.ReasonRestoring, in.Err.Error()}
	case in.Err != nil:
		return verdict{false, v1beta2.ReasonCreating, in.Err.Error()}
	}
	return verdict{false, reason, message}
}

// alarmOf is etcd's alarm, nil if it has none, or if that is unknown for want of a quorum.
func alarmOf(s *v1beta2.EtcdClusterStatus, in Input) *failure.Problem {
	if !hasClusterID(s) || in.Observed.Etcd.Contact != plan.ContactQuorum {
		return nil
	}
	return in.Assessment.Alarm
}

func progressing(in Input, reason, message string) verdict {
	if in.Err != nil {
		return verdict{true, v1beta2.ReasonActionFailed, in.Err.Error()}
	}
	switch in.Action.(type) {
	case plan.Idle, plan.Blocked:
		return verdict{false, reason, message}
	default:
		return verdict{true, reason, message}
	}
}

// degraded holds if a voter is unhealthy, or if the operator cannot continue.
func degraded(s *v1beta2.EtcdClusterStatus, in Input, reason, message string) verdict {
	if alarm := alarmOf(s, in); alarm != nil { // it stops every client, whatever else is wrong
		v := verdict{true, alarm.Reason, alarm.Message}
		if blocked(in) && reason != alarm.Reason {
			v.message += "; " + message
		}
		return v
	}
	if blocked(in) {
		return verdict{true, reason, message}
	}
	if replaced(s) {
		return verdict{false, v1beta2.ReasonRestoring, "the cluster's data is being replaced by that of a snapshot"}
	}
	if !hasClusterID(s) {
		return verdict{false, v1beta2.ReasonCreating, "the cluster is not up yet"}
	}
	if v := onPurpose(s, in, message); v != nil {
		return *v
	}
	if in.Observed.Etcd.Contact != plan.ContactQuorum {
		return verdict{true, withoutQuorum(s), message}
	}
	w, waits := in.Action.(plan.Wait)
	if waits && w.Reason == v1beta2.ReasonUpdateStopped {
		return verdict{true, w.Reason, w.Message}
	}
	all := voters(s, in.Assessment)
	if all.reason != v1beta2.ReasonAsExpected {
		return all
	}
	for _, p := range []*failure.Problem{in.Assessment.SlowLeader, in.Assessment.Laggards} {
		if p != nil {
			return verdict{true, p.Reason, p.Message}
		}
	}
	if waits && w.Reason == v1beta2.ReasonPodCannotStart {
		return verdict{true, w.Reason, w.Message}
	}
	for _, p := range []*failure.Problem{in.Assessment.RejectedSpec, certificateTrouble(in), in.Assessment.Unrelated} {
		if p != nil {
			return verdict{true, p.Reason, p.Message}
		}
	}
	return all
}

// voters says which of them are unhealthy.
func voters(s *v1beta2.EtcdClusterStatus, known plan.Assessment) verdict {
	healthy, down, restarting := 0, "", ""
	for _, m := range s.MemberStatuses {
		switch {
		case m.Role != v1beta2.MemberRoleVoter:
		case m.Ready:
			healthy++
		case slices.Contains(known.DownForUpdate, m.Name):
			restarting = m.Name + " is restarting; no other member is restarted until it is back"
		case down == "":
			down = fmt.Sprintf("member %s is not healthy: %s", m.Name, m.Message)
		}
	}
	switch {
	case down != "":
		return verdict{true, v1beta2.ReasonMemberDown, down}
	case restarting != "":
		return verdict{false, v1beta2.ReasonUpdating, restarting}
	}
	return verdict{false, v1beta2.ReasonAsExpected, fmt.Sprintf("all %d voters are healthy", healthy)}
}

// rejected is what the API server rejects or refuses, each with a reason.
func rejected(in Input) []failure.Problem {
	var all []failure.Problem
	if in.Rejected != nil {
		all = append(all, *in.Rejected)
	}
	for _, refusal := range in.Observed.Refused {
		all = append(all, failure.Problem{Reason: v1beta2.ReasonWriteRefused, Message: refusal.String()})
	}
	return all
}

// withRejected adds what was rejected, whatever else is wrong: it is reported nowhere else.
func withRejected(v verdict, rejected []failure.Problem) verdict {
	for _, p := range rejected {
		switch {
		case !v.holds:
			v = verdict{true, p.Reason, p.Message}
		case !strings.Contains(v.message, p.Message):
			v.message += "; " + p.Message
		}
	}
	return v
}

// words are the action's reason and message.
func words(in Input) (reason, message string) {
	d := plan.DescribeIn(in.Observed, in.Assessment, in.Action)
	return d.Reason, d.Message
}

func setQuorumLost(s *v1beta2.EtcdClusterStatus, o plan.Observed) {
	switch {
	case !hasClusterID(s) || hibernates(s) || o.Etcd.Contact == plan.ContactQuorum:
		s.QuorumLostSince = nil
	case s.QuorumLostSince == nil:
		since := now(o)
		s.QuorumLostSince = &since
	}
}

// blocked reports whether nothing goes on before a person has done something.
func blocked(in Input) bool {
	_, is := in.Action.(plan.Blocked)
	return is
}

func phase(s *v1beta2.EtcdClusterStatus, in Input) v1beta2.ClusterPhase {
	up := meta.IsStatusConditionTrue(s.Conditions, v1beta2.ConditionAvailable)
	switch {
	case up:
		return v1beta2.ClusterPhaseRunning
	case blocked(in):
		return v1beta2.ClusterPhaseFailed
	case hibernates(s):
		return v1beta2.ClusterPhaseHibernated
	case hasClusterID(s):
		return v1beta2.ClusterPhaseUnavailable
	case replaced(s):
		return v1beta2.ClusterPhaseRestoring
	}
	return v1beta2.ClusterPhaseCreating
}
