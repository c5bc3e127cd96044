package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// view is Observed, joined by name and by ID, with what other incarnations have left set apart, and with the assessment.
type view struct {
	Observed
	whole Observed // with what other incarnations have left
	leftovers
	Assessment
	pods             map[string]Pod
	volumes          map[string]Volume
	members          map[string]Member
	answers          map[string]Answer // by pod name, only of the pod's current UID, and none of one whose disk hangs
	voters, learners []Member          // the members that vote, and those that do not yet
	untried          string            // why no member gets a release now that was chosen: see whyUntried
}

func newView(o Observed) *view {
	whole := o
	o, left := splitByIncarnation(o)
	o.Etcd.Members = slices.Clone(o.Etcd.Members)
	slices.SortFunc(o.Pods, func(a, b Pod) int { return CompareNames(a.Name, b.Name) })
	slices.SortFunc(o.Volumes, func(a, b Volume) int { return CompareNames(a.Name, b.Name) })
	slices.SortFunc(left.keptVolumes, func(a, b Volume) int { return CompareNames(a.Name, b.Name) })
	slices.SortFunc(o.Etcd.Members, func(a, b Member) int { return CompareNames(a.Name, b.Name) })
	v := &view{
		Observed: o, whole: whole, leftovers: left,
		pods: map[string]Pod{}, volumes: map[string]Volume{},
		members: map[string]Member{}, answers: map[string]Answer{},
	}
	for _, p := range o.Pods {
		v.pods[p.Name] = p
	}
	for _, c := range o.Volumes {
		v.volumes[c.Name] = c
	}
	for _, m := range o.Etcd.Members {
		v.members[m.Name] = m
		if m.Learner {
			v.learners = append(v.learners, m)
		} else {
			v.voters = append(v.voters, m)
		}
	}
	for _, a := range o.Etcd.Answers {
		if p, ok := v.pods[a.Pod]; ok && p.UID == a.PodUID && !DiskHangs(o, a.Pod, a.PodUID) {
			v.answers[a.Pod] = a
		}
	}
	v.Cluster.Quarantined = v.remembered()
	v.assess()
	return v
}

// ordinal returns the number at the end of a member's name, -1 if it has none.
func ordinal(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return -1
	}
	return n
}

// CompareNames orders members by the number in their names, so that member 10 follows member 9.
func CompareNames(a, b string) int {
	if d := ordinal(a) - ordinal(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// memberName returns the name of the n-th member's pod, volume and etcd member.
func (v *view) memberName(n int) string { return fmt.Sprintf("%s-%d", v.Cluster.Name, n) }

// freeNames returns the lowest n names that no pod, volume or member has.
func (v *view) freeNames(n int) []string {
	var names []string
	for i := 0; len(names) < n; i++ {
		name := v.memberName(i)
		_, pod := v.pods[name]
		_, volume := v.volumes[name]
		_, listed := v.members[name]
		if !pod && !volume && !listed && !v.nameInUse(name) && !v.heldByOther(name) {
			names = append(names, name)
		}
	}
	return names
}

// PeerURL returns the peer URL of the member with that name.
func (c Cluster) PeerURL(name string) string { return member.PeerURL(c.Host(name), c.Transport) }

// ByTLS reports whether the operator connects to members by TLS: as clients are told. Once all members serve them both ways, it is as the spec
// asks, so that the operator sees what follows from an edit although it reaches no member in the way before it. Whether they do is read from
// their pods and volumes: a record from before the fact was recorded, or made anew, does not say.
func (o Observed) ByTLS() bool {
	told, asked := o.Cluster.Transport, o.Cluster.SpecTransport
	if !told.ClientBoth || told.ClientUntold || told.ClientTLS == asked.ClientTLS {
		return told.ClientTLS
	}
	for _, p := range o.Pods {
		if o.Cluster.CurrentPod(p) && !p.Transport.ServesClients(asked.ClientTLS) {
			return told.ClientTLS
		}
	}
	for _, c := range o.Volumes {
		if o.Cluster.Resumes(c) && !c.Transport.ServesClients(asked.ClientTLS) {
			return told.ClientTLS
		}
	}
	return asked.ClientTLS
}

// Host returns a member's DNS name, which is also in its certificates.
func (c Cluster) Host(name string) string { return member.Host(name, c.Name, c.Namespace, c.Domain) }

// answer returns the answer of the member's server, provided that it is the member which the quorum lists under that name.
func (v *view) answer(m Member) (Answer, bool) {
	a, ok := v.answers[m.Name]
	return a, ok && a.MemberID == m.ID && a.ClusterID == v.Etcd.ClusterID
}

// healthyPods returns the healthy pods: see Assessment.Healthy.
func (v *view) healthyPods() []string {
	var names []string
	for _, p := range v.Pods {
		a, ok := v.answers[p.Name]
		if m, listed := v.members[p.Name]; listed {
			a, ok = v.answer(m)
		}
		if ok && a.Leader != 0 && !p.Deleting && !p.Restarting && v.database(v.members[p.Name]).Defragmenting.IsZero() {
			names = append(names, p.Name)
		}
	}
	return names
}

// healthy reports whether the member is healthy.
func (v *view) healthy(m Member) bool {
	return v.members[m.Name].ID == m.ID && slices.Contains(v.Healthy, m.Name)
}

// currentLeader returns the leader that most of the members report.
func (v *view) currentLeader() uint64 {
	var reported []uint64
	for _, m := range v.Etcd.Members {
		if a, ok := v.answer(m); ok {
			reported = append(reported, a.Leader)
		}
	}
	return LeaderOf(reported)
}

// LeaderOf returns the leader that most members report, 0 if nobody knows one: who knows none does not outvote those who do. Of two that are
// reported as often it is the one that is reported first: so give what members report in the order of their names.
func LeaderOf(reported []uint64) (leader uint64) {
	times, most := map[uint64]int{}, 0
	for _, id := range reported {
		times[id]++
	}
	for _, id := range reported {
		if id != 0 && times[id] > most {
			leader, most = id, times[id]
		}
	}
	return leader
}

// up reports whether member-run or etcd runs in the pod and the pod has an address: its DNS name exists, too.
func (p Pod) up() bool { return p.Phase == Running && p.IP != "" }

// readyToJoin reports whether the other members can connect to a candidate, and nothing is known that keeps etcd from starting
// in it.
func (p Pod) readyToJoin() bool { return p.up() && p.Exit == ExitNone }

// startProblem returns why the pod, or etcd in it, does not start, empty if no reason is known.
func (p Pod) startProblem() string {
	if p.StartProblem == "" && p.Exit != ExitNone {
		return "member-run refuses to start etcd: " + string(p.Exit)
	}
	return p.StartProblem
}

// candidate reports whether a pod waits to become a member: it has no member, no permit, and no volume that was ever used. One
// with an invalid configuration waits for a new spec, one with invalid certificates for others: to recreate it from the same ones would
// never end.
func (v *view) candidate(p Pod) bool {
	if _, listed := v.members[p.Name]; listed || p.Deleting || p.Phase == Finished ||
		p.Permit != nil || p.Exit != ExitNone && !p.Exit.misconfigured() || p.Name != v.memberName(ordinal(p.Name)) {
		return false
	}
	if !p.Persistent {
		return true
	}
	c, ok := v.volumes[p.Name]
	return ok && !c.Deleting && !c.Lost && c.MemberID == 0
}

// candidates returns the pods that wait to become members.
func (v *view) candidates() []Pod {
	return slices.DeleteFunc(slices.Clone(v.Pods), func(p Pod) bool { return !v.candidate(p) })
}

// list joins names for a message.
func list(names []string) string { return strings.Join(names, ", ") }
