package status

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Input is what a status is computed from.
type Input struct {
	// Cluster is the object as it was read; its own status is the previous one.
	Cluster *v1beta2.EtcdCluster
	// Observed is the planner's input, Action its answer, and Assessment what it has concluded from the input.
	Observed   plan.Observed
	Action     plan.Action
	Assessment plan.Assessment
	// Err is the error of the action, nil if there was none.
	Err error
	// Rejected says what the API server rejects of what the members do not depend on: a Service, or the metadata of a volume. It is
	// nil if nothing is.
	Rejected *failure.Problem
	// Incomplete is true if the API server has refused any write of the action: then nothing is recorded of it.
	Incomplete bool
	// Certificates is nil without TLS.
	Certificates *Certificates
	// Auth is nil if spec.auth never asked for authentication.
	Auth *Auth
	// Habits is what is known of how the members usually are, nil if Auto Pilot does not look at that.
	Habits *anomaly.Report
	// OperatorMode is how far the operator lets Auto Pilot go; On if empty.
	OperatorMode v1beta2.AutopilotMode
	// ClientURL is where clients reach the cluster and Selector selects its pods.
	ClientURL string
	Selector  string
	// Service is the name of the client Service, Port its port.
	Service string
	Port    int32
}

// Compute returns the next status. What is unknown stays as it was.
func Compute(in Input) v1beta2.EtcdClusterStatus {
	s := *in.Cluster.Status.DeepCopy()
	in = keepRecord(&s, in)
	o := in.Observed
	s.ObservedGeneration = in.Cluster.Generation
	s.ControlPaused = in.Cluster.Spec.Paused
	s.ServiceName, s.ClientPort, s.Selector = in.Service, in.Port, in.Selector
	s.Endpoints = []string{in.ClientURL}
	if o.Etcd.Contact == plan.ContactQuorum {
		s.Size = int32(len(o.Etcd.Members)) //nolint:gosec // a number of members
		s.Leader = leader(in)
	}
	s.Storage = storage(o)
	setMembers(&s, in)
	if s.TargetVersion = o.Cluster.Version; s.TargetVersion == s.CurrentVersion {
		s.TargetVersion = ""
	}
	s.Recovery = recovery(in)
	setTLS(&s, in)
	setAuth(&s, in)
	setAutopilot(&s, in)
	setConditions(&s, in)
	s.Phase = phase(&s, in)
	s.Reason = ""
	switch s.Phase {
	case v1beta2.ClusterPhaseFailed, v1beta2.ClusterPhaseUnavailable, v1beta2.ClusterPhaseRestoring:
		_, s.Reason = words(in)
	default:
	}
	completeRestore(&s, in)
	return s
}

// storage is what the members have, which may differ from an edited spec; before there are any it is the spec's.
func storage(o plan.Observed) v1beta2.MemberStorage {
	onVolumes := o.Cluster.Persistent
	if len(o.Pods) > 0 {
		onVolumes = !slices.ContainsFunc(o.Pods, func(p plan.Pod) bool { return !p.Persistent })
	}
	if onVolumes {
		return v1beta2.MemberStoragePVC
	}
	return v1beta2.MemberStorageEmptyDir
}

// keepRecord writes the record for later passes, and returns what was observed of the cluster that the status is about then:
// nothing, if a restore has started to replace it, or has been canceled.
func keepRecord(s *v1beta2.EtcdClusterStatus, in Input) Input {
	done := in.Action
	if in.Err != nil || in.Incomplete {
		done = nil
	}
	in.Observed.Cluster.Record = RecordOf(s)
	next := in.Observed.Cluster.Apply(done, in.Observed)
	if advance(s, next, done, in) {
		in.Observed, in.Assessment = plan.Observed{Now: in.Observed.Now, Cluster: in.Observed.Cluster}, plan.Assessment{}
	}
	in.Observed.Cluster.Record = next
	return in
}

func leader(in Input) string {
	m, _ := find(in.Observed.Etcd.Members, func(m plan.Member) bool { return m.ID == in.Assessment.Leader })
	return m.Name
}

// setMembers lists members and pods by name. Without quorum the list of members is the last confirmed one.
func setMembers(s *v1beta2.EtcdClusterStatus, in Input) {
	o, previous := in.Observed, s.MemberStatuses
	s.MemberStatuses, s.Members = nil, v1beta2.MembersStatus{}
	s.UpdatedMembers = int32(len(in.Assessment.Updated)) //nolint:gosec // a number of members
	for _, name := range names(o, previous) {
		m, keep := memberStatus(name, in, previous)
		if !keep {
			continue
		}
		m.Leader = m.Name == s.Leader && o.Etcd.Contact == plan.ContactQuorum
		m.Updated = slices.Contains(in.Assessment.Updated, m.Name)
		s.MemberStatuses = append(s.MemberStatuses, m)
		if m.Ready {
			s.Members.Ready = append(s.Members.Ready, name)
		} else {
			s.Members.Unready = append(s.Members.Unready, name)
		}
	}
	s.ReadyMembers = int32(len(s.Members.Ready)) //nolint:gosec // a number of members
	s.ReadySummary = fmt.Sprintf("%d/%d", s.ReadyMembers, len(Voters(s.MemberStatuses)))
}

func names(o plan.Observed, previous []v1beta2.MemberStatus) []string {
	var all []string
	for _, p := range o.Pods {
		all = append(all, p.Name)
	}
	for _, m := range o.Etcd.Members {
		all = append(all, m.Name)
	}
	if o.Etcd.Contact != plan.ContactQuorum {
		for _, m := range previous {
			all = append(all, m.Name)
		}
	}
	slices.SortFunc(all, plan.CompareNames)
	return slices.Compact(all)
}

func memberStatus(name string, in Input, previous []v1beta2.MemberStatus) (v1beta2.MemberStatus, bool) {
	o, m := in.Observed, v1beta2.MemberStatus{Name: name, Role: v1beta2.MemberRoleNone}
	if i := slices.IndexFunc(previous, func(p v1beta2.MemberStatus) bool { return p.Name == name }); i >= 0 {
		m.ID, m.Role, m.Version, m.DBSize = previous[i].ID, previous[i].Role, previous[i].Version, previous[i].DBSize
	}
	pod, running := find(o.Pods, func(p plan.Pod) bool { return p.Name == name })
	entry, listed := find(o.Etcd.Members, func(e plan.Member) bool { return e.Name == name })
	hangs := plan.DiskHangs(o, name, pod.UID)
	answer, answers := find(o.Etcd.Answers, func(a plan.Answer) bool {
		return running && a.Pod == name && a.PodUID == pod.UID && (!listed || a.MemberID == entry.ID) && !hangs
	})
	if o.Etcd.Contact == plan.ContactQuorum {
		m.ID, m.Role = "", v1beta2.MemberRoleNone
	}
	if listed {
		m.ID, m.Role = fmt.Sprintf("%016x", entry.ID), v1beta2.MemberRoleVoter
		if entry.Learner {
			m.Role = v1beta2.MemberRoleLearner
		}
	}
	if answers {
		m.Version, m.DBSize = o.Runs(answer), coarse(answer.DBSize)
	}
	m.Node = pod.Node
	m.Ready = m.Role == v1beta2.MemberRoleVoter && slices.Contains(in.Assessment.Healthy, name)
	m.Message = memberMessage(pod, running, answers, m.Ready, hangs)
	if !running && o.Cluster.Hibernation == plan.Hibernated {
		m.Message = "stopped: the cluster hibernates"
	}
	if m.Message == "" && !m.Ready && answer.Leader == 0 {
		m.Message = "etcd has no leader"
	}
	return m, running || listed || o.Etcd.Contact != plan.ContactQuorum
}

func memberMessage(pod plan.Pod, running, answers, ready, hangs bool) string {
	switch {
	case ready:
		return ""
	case !running:
		return "its pod does not exist"
	case pod.Deleting:
		return "its pod is being deleted"
	case hangs:
		return "its disk hangs: reads and writes do not complete"
	case pod.Restarting:
		return "its container is restarting with another image"
	case pod.Legacy:
		return "created by coreos/etcd-operator"
	case pod.StartProblem != "":
		return pod.StartProblem
	case pod.WaitsFor != "":
		return "its pod " + pod.NotStarted()
	case pod.Exit != plan.ExitNone:
		return "member-run refused to start etcd: " + string(pod.Exit)
	case pod.Permit == nil:
		return "waiting for the operator to let etcd start"
	case !answers:
		return "etcd does not answer; check its log: kubectl logs " + pod.Name + " -c etcd"
	}
	return ""
}

// coarse rounds a database's size up to an eighth of its order of magnitude, so that status does not change with every
// write.
func coarse(bytes int64) *resource.Quantity {
	unit := int64(1 << 20)
	for unit*8 < bytes {
		unit *= 2
	}
	return resource.NewQuantity((bytes+unit-1)/unit*unit, resource.BinarySI)
}

func find[T any](list []T, match func(T) bool) (T, bool) {
	if i := slices.IndexFunc(list, match); i >= 0 {
		return list[i], true
	}
	var zero T
	return zero, false
}

// Voters are the names of the voters among the members of a status.
func Voters(members []v1beta2.MemberStatus) []string {
	var voters []string
	for _, m := range members {
		if m.Role == v1beta2.MemberRoleVoter {
			voters = append(voters, m.Name)
		}
	}
	return voters
}

// now is set from the observation, so that the package stays pure.
func now(o plan.Observed) metav1.Time { return metav1.NewTime(o.Now) }
