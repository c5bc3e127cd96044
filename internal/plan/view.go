package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// view is Observed with its parts joined by name and by ID, what an abandoned incarnation has left set apart, and what follows
// from all that.
type view struct {
	Observed
	leftovers
	Assessment
	pods             map[string]Pod
	volumes          map[string]Volume
	members          map[string]Member
	answers          map[string]Answer // by pod name, only of the pod's current UID, and none of one whose disk hangs
	voters, learners []Member          // the members that vote, and those that do not yet
}

func newView(o Observed) *view {
	o, left := splitByIncarnation(o)
	o.Etcd.Members = slices.Clone(o.Etcd.Members)
	slices.SortFunc(o.Pods, func(a, b Pod) int { return CompareNames(a.Name, b.Name) })
	slices.SortFunc(o.Volumes, func(a, b Volume) int { return CompareNames(a.Name, b.Name) })
	slices.SortFunc(left.keptVolumes, func(a, b Volume) int { return CompareNames(a.Name, b.Name) })
	slices.SortFunc(o.Etcd.Members, func(a, b Member) int { return CompareNames(a.Name, b.Name) })
	v := &view{
		Observed: o, leftovers: left,
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
	v.assess()
	return v
}

// ordinal is the number at the end of a member's name, -1 for a name that has none.
func ordinal(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return -1
	}
	return n
}

// CompareNames orders members by the number in their names, so that member 10 comes after member 9.
func CompareNames(a, b string) int {
	if d := ordinal(a) - ordinal(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// memberName is the name of the n-th member's pod, volume and etcd member.
func (v *view) memberName(n int) string { return fmt.Sprintf("%s-%d", v.Cluster.Name, n) }

// freeNames are the lowest n names that no pod, volume or member uses.
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

// PeerURL is where the other members reach the member of that name.
func (c Cluster) PeerURL(name string) string { return member.PeerURL(c.Host(name)) }

// Host is the DNS name of a member, the one that its certificates carry.
func (c Cluster) Host(name string) string { return member.Host(name, c.Name, c.Namespace, c.Domain) }

// answer is what the member's own server said, if it is the one that the quorum lists under that name.
func (v *view) answer(m Member) (Answer, bool) {
	a, ok := v.answers[m.Name]
	return a, ok && a.MemberID == m.ID && a.ClusterID == v.Etcd.ClusterID
}

// healthyPods are the pods to count on: see Assessment.Healthy.
func (v *view) healthyPods() []string {
	var names []string
	for _, p := range v.Pods {
		a, ok := v.answers[p.Name]
		if m, listed := v.members[p.Name]; listed {
			a, ok = v.answer(m)
		}
		if ok && a.Leader != 0 && !p.Deleting && !p.Restarting {
			names = append(names, p.Name)
		}
	}
	return names
}

// healthy tells whether the member can be counted on.
func (v *view) healthy(m Member) bool {
	return v.members[m.Name].ID == m.ID && slices.Contains(v.Healthy, m.Name)
}

// currentLeader is the leader that most of the members name.
func (v *view) currentLeader() uint64 {
	var leader uint64
	most := 0
	for _, m := range v.Etcd.Members {
		a, ok := v.answer(m)
		if !ok || a.Leader == 0 || a.Leader == leader {
			continue
		}
		named := 0
		for _, other := range v.Etcd.Members {
			if b, ok := v.answer(other); ok && b.Leader == a.Leader {
				named++
			}
		}
		if named > most {
			leader, most = a.Leader, named
		}
	}
	return leader
}

// up means that member-run (or etcd) runs in the pod and that the pod has an address: its DNS name exists, too.
func (p Pod) up() bool { return p.Phase == Running && p.IP != "" }

// readyToJoin means that a candidate can be dialled, and that nothing is known to keep etcd from starting in it.
func (p Pod) readyToJoin() bool { return p.up() && p.Exit == ExitNone }

// startProblem is why the pod, or etcd in it, does not start, empty if nothing is known to keep it.
func (p Pod) startProblem() string {
	if p.StartProblem == "" && p.Exit != ExitNone {
		return "member-run refuses to start etcd: " + string(p.Exit)
	}
	return p.StartProblem
}

// candidate is a pod that waits for a membership of its own: no member, no permit, and a volume that was never used. One
// that cannot be configured waits for another spec: to make it again from the same one would go on for ever.
func (v *view) candidate(p Pod) bool {
	if _, listed := v.members[p.Name]; listed || p.Deleting || p.Phase == Finished ||
		p.Permit != nil || p.Exit != ExitNone && p.Exit != ExitBadConfig || p.Name != v.memberName(ordinal(p.Name)) {
		return false
	}
	if !p.Persistent {
		return true
	}
	c, ok := v.volumes[p.Name]
	return ok && !c.Deleting && !c.Lost && c.MemberID == 0
}

// candidates are the pods that wait for a membership.
func (v *view) candidates() []Pod {
	return slices.DeleteFunc(slices.Clone(v.Pods), func(p Pod) bool { return !v.candidate(p) })
}

// list joins names for a message.
func list(names []string) string { return strings.Join(names, ", ") }
