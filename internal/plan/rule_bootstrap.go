package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	// pollFast is how soon to look at etcd again while something is expected of it within a second.
	pollFast = 100 * time.Millisecond
	// pollSlow is how soon to look again at what takes seconds or needs somebody else.
	pollSlow = 2 * time.Second
	// pollRare is how soon to look again at what has not happened for long.
	pollRare = 30 * time.Second
)

// adoptVolumes takes up data that has no status to go with it: volumes retained by a deleted cluster of this name, or
// pods and volumes of this cluster after its status was lost.
func adoptVolumes(v *view) Action {
	if len(v.Volumes) == 0 && len(v.Pods) == 0 {
		return nil
	}
	ids := map[uint64]bool{}
	var names []string
	for _, c := range v.Volumes {
		names = append(names, c.Name)
		if c.ClusterID != 0 {
			ids[c.ClusterID] = true
		}
	}
	for _, p := range v.Pods {
		if p.Permit != nil {
			ids[uint64(p.Permit.ClusterID)] = true
		}
	}
	if len(ids) != 1 {
		return v.adoptionBlocked(names, len(ids))
	}
	for id := range ids {
		return Adopt{ClusterID: id, Volumes: names}
	}
	return nil
}

// adoptionBlocked says why nothing is started beside what is there.
func (v *view) adoptionBlocked(volumes []string, clusters int) Action {
	var pods []string
	for _, p := range v.Pods {
		pods = append(pods, p.Name)
	}
	message := fmt.Sprintf("volumes of earlier clusters of this name are there (%s), and they hold the data of %d clusters: "+
		"keep those of one, and delete the others' once you are sure that nobody needs them. A restore may have kept some of "+
		"them whose data it replaced", v.withClusterIDs(volumes), clusters)
	if clusters == 0 {
		what := "volumes " + list(volumes)
		if len(volumes) == 0 {
			what = "pods " + list(pods)
		}
		message = what + " have this cluster's labels and do not say whose data they hold: nothing is started beside them; " +
			"find out where they come from, and save what is in them, before you delete them or give this cluster another name"
	}
	return Blocked{Reason: v1beta2.ReasonVolumesExist, Message: message}
}

// withClusterIDs lists volumes with the cluster ID of what is on them: whoever is to choose has to tell them apart.
func (v *view) withClusterIDs(volumes []string) string {
	var all []string
	for _, name := range volumes {
		if id := v.volumes[name].ClusterID; id != 0 {
			name += fmt.Sprintf(" of cluster %016x", id)
		}
		all = append(all, name)
	}
	return list(all)
}

func invalidSpec(v *view) Action {
	if p := v.Cluster.Invalid; p != nil {
		return Blocked(*p)
	}
	return nil
}

// commitBootstrap writes the plan of the first start.
func commitBootstrap(v *view) Action {
	return CommitBootstrap{Bootstrap: v.plannedBootstrap(v.nextIncarnation())}
}

// reviseBootstrap writes another plan while nobody could start yet: for another size, or where a first member's volume is kept, for a
// restore in the meantime was called off that had used its name.
func reviseBootstrap(v *view) Action {
	b := v.Cluster.Bootstrap
	if len(b.InitialPods) == 0 && (len(b.Members) != v.Cluster.Size || slices.ContainsFunc(b.Members, v.hasKept)) {
		return CommitBootstrap{Bootstrap: v.plannedBootstrap(v.nextIncarnation())}
	}
	return nil
}

// plannedBootstrap is the plan of one attempt: the token, and with it every ID, is different in each.
func (v *view) plannedBootstrap(n int) Bootstrap {
	var members []string
	for i := 0; len(members) < v.Cluster.Size; i++ {
		if name := v.memberName(i); !v.hasKept(name) {
			members = append(members, name)
		}
	}
	return v.newBootstrap(n, members, "")
}

func (v *view) newBootstrap(n int, members []string, restore string) Bootstrap {
	b := Bootstrap{Incarnation: n, Token: fmt.Sprintf("%s-%d", v.Cluster.UID, n), Members: members, Restore: restore}
	_, b.ClusterID = IDs(b.Token, v.peerURLs(b.Members))
	return b
}

func (v *view) peerURLs(names []string) map[string]string {
	urls := map[string]string{}
	for _, name := range names {
		urls[name] = v.Cluster.PeerURL(name)
	}
	return urls
}

// recordClusterID ends the bootstrap.
func recordClusterID(v *view) Action { return v.recordIfQuorum() }

// recordIfQuorum is nil until the cluster is up. A quorum that leans on a pod on its way out is none: once latched there is no second try.
func (v *view) recordIfQuorum() Action {
	if v.Etcd.Contact == ContactQuorum && v.Etcd.ClusterID == v.Cluster.Bootstrap.ClusterID &&
		v.healthyVoters("") >= Quorum(len(v.voters)) {
		return RecordClusterID{ClusterID: v.Etcd.ClusterID, KeptVolumes: v.toKeep(v.Etcd.ClusterID), Unsaved: v.Cluster.Unsaved}
	}
	return nil
}

// restartBootstrap gives up an incarnation only when it can never form a quorum and nobody has written to it. Whoever
// may have data is asked first: a seat that is neither lost nor answers is waited for.
func restartBootstrap(v *view) Action {
	b := v.Cluster.Bootstrap
	lost, silent := 0, 0
	for _, s := range b.InitialPods {
		_, answers := v.answers[s.Name]
		switch {
		case v.initialPodLost(s):
			lost++
		case !answers && (v.pods[s.Name].Permit != nil || v.volumes[s.Name].MemberID != 0):
			silent++
		}
	}
	if len(b.Members)-lost >= Quorum(len(b.Members)) || silent > 0 {
		return nil
	}
	for _, a := range v.answers {
		if a.ClusterID == b.ClusterID && a.Revision > 1 {
			return Blocked{
				Reason: v1beta2.ReasonDataLost,
				Message: fmt.Sprintf("the first members lost their data before the cluster was up, but %s has been "+
					"written to (revision %d): save what is needed, then delete and recreate the cluster",
					a.Pod, a.Revision),
			}
		}
	}
	return CommitBootstrap{Bootstrap: v.plannedBootstrap(v.nextIncarnation())}
}

func createInitialMembers(v *view) Action {
	b := v.Cluster.Bootstrap
	var volumes []string
	var pods []NewPod
	for _, name := range b.Members {
		s, seated := initialPodOf(b, name)
		if seated && v.initialPodLost(s) {
			continue
		}
		c, there := v.volumes[name]
		if v.Cluster.Persistent && !there && !seated {
			volumes = append(volumes, name)
		}
		if _, ok := v.pods[name]; !ok && !c.Deleting {
			pods = append(pods, NewPod{
				Name: name, Incarnation: b.Incarnation, Permit: c.resumePermit(), Version: v.versionOn(c),
				Persistent: v.Cluster.Persistent && !seated || s.VolumeUID != "", Restores: b.Restore != "",
			})
		}
	}
	switch {
	case len(volumes) > 0:
		return CreateVolumes{Names: volumes, Incarnation: b.Incarnation}
	case len(pods) > 0:
		return CreatePods{Pods: pods}
	}
	return nil
}

func waitForInitialQuorum(v *view) Action {
	b := v.Cluster.Bootstrap
	waiting, ok := v.waitForPods(b.Members).(Wait)
	if ok && (len(b.InitialPods) < Quorum(len(b.Members)) || waiting.Reason == v1beta2.ReasonPodCannotStart) {
		return waiting
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForEtcd, After: v.poll(),
		Message: fmt.Sprintf("waiting until a quorum of the first members (%s) answers", list(b.Members)),
	}
}

// poll is how soon to ask etcd again: fast while a pod is young, and ever more slowly once it is clear that this takes
// longer. Whatever ends the wait, a pod that gets ready or a new one, is an event too.
func (v *view) poll() time.Duration {
	const settled = 15 * pollSlow
	age, calm := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for _, p := range v.Pods {
		age = min(age, v.Now.Sub(p.Created))
		if calm = min(calm, age); !p.ReadyChanged.IsZero() {
			calm = min(calm, v.Now.Sub(p.ReadyChanged))
		}
	}
	if age < settled {
		return pollFast
	}
	return min(max(pollSlow, calm/15), pollRare)
}

// waitForPods names the pods that are missing, on their way out, or without an address.
func (v *view) waitForPods(names []string) Action {
	var waiting []string
	for _, name := range names {
		p, ok := v.pods[name]
		switch {
		case ok && p.startProblem() != "":
			return Wait{
				Reason: v1beta2.ReasonPodCannotStart, After: pollSlow,
				Message: fmt.Sprintf("pod %s: %s", name, p.startProblem()),
			}
		case !ok || p.Deleting || !p.up():
			waiting = append(waiting, name)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForPods, After: pollSlow,
		Message: "waiting for the pods " + list(waiting),
	}
}
