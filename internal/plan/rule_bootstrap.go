package plan

import (
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// reviseBootstrap commits another bootstrap record while no member can have started: because the size was changed, because a name is
// taken by a volume that is kept from a restore canceled in the meantime, because the spec asks for other volumes by now (those
// that are there may never be bound), or because a volume is bound to a node that is gone.
func reviseBootstrap(v *view) Action {
	b := v.Cluster.Bootstrap
	misfit := func(name string) bool { return v.misfit(v.volumes[name]) }
	if len(b.InitialPods) == 0 &&
		(len(b.Members) != v.Cluster.Size || slices.ContainsFunc(b.Members, v.hasKept) || slices.ContainsFunc(b.Members, misfit) ||
			slices.ContainsFunc(b.Members, v.unreachable)) {
		return CommitBootstrap{Bootstrap: v.plannedBootstrap(v.nextIncarnation())}
	}
	return nil
}

// plannedBootstrap returns the bootstrap record of attempt n. Its token differs from that of any other attempt, and so do all
// IDs.
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
	_, b.ClusterID = IDs(b.Token, v.plannedURLs(b.Members))
	return b
}

// plannedURLs are the peer URLs that members have in the next attempt to start.
func (v *view) plannedURLs(names []string) map[string]string {
	next := v.Cluster
	next.Transport = next.SpecTransport
	return next.peerURLs(names)
}

// peerURLs are the members' present ones.
func (c Cluster) peerURLs(names []string) map[string]string {
	urls := map[string]string{}
	for _, name := range names {
		urls[name] = c.PeerURL(name)
	}
	return urls
}

// recordClusterID completes the bootstrap.
func recordClusterID(v *view) Action { return v.recordIfQuorum() }

// recordIfQuorum returns nil until a quorum answers. A quorum that depends on a terminating pod does not count: once the
// cluster ID is recorded there is no second attempt.
func (v *view) recordIfQuorum() Action {
	if v.Etcd.Contact == ContactQuorum && v.Etcd.ClusterID == v.Cluster.Bootstrap.ClusterID &&
		v.healthyVoters("") >= Quorum(len(v.voters)) {
		return RecordClusterID{ClusterID: v.Etcd.ClusterID, KeptVolumes: v.toKeep(v.Etcd.ClusterID), Unsaved: v.Cluster.Unsaved}
	}
	return nil
}

// restartBootstrap abandons an attempt only if it can never form a quorum and no client has written to it. A member that may
// have data is waited for as long as its data is not known to be lost and it does not answer.
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
				Message: fmt.Sprintf("the initial members lost their data before the cluster was up, but %s has been "+
					"written to (revision %d): save what is needed, then delete and recreate the cluster",
					a.Pod, a.Revision),
			}
		}
	}
	if a := v.pauseBetweenAttempts(); a != nil {
		return a
	}
	return CommitBootstrap{Bootstrap: v.plannedBootstrap(v.nextIncarnation())}
}

const (
	// attemptPause is how old the pods of the first attempt to start have to be before another one begins; each later attempt waits
	// twice as long as the one before, up to attemptPauseLimit.
	attemptPause      = 10 * time.Second
	attemptPauseLimit = 5 * time.Minute
)

// pauseBetweenAttempts waits before another attempt if this one has ended by itself: whatever ends etcd before it has data ends it
// again, and each attempt makes new volumes. It begins at once if pods or volumes are gone, which has another cause, or if the spec has changed.
func (v *view) pauseBetweenAttempts() Action {
	b := v.Cluster.Bootstrap
	var youngest time.Time
	problem := ""
	for _, s := range b.InitialPods {
		p := v.pods[s.Name]
		if !p.Exit.DataGone() || !v.initialPodLost(s) {
			continue
		}
		if v.outdated(p) {
			return nil
		}
		if p.Created.After(youngest) {
			youngest = p.Created
		}
		if why := p.startProblem(); problem == "" && why != "" {
			problem = fmt.Sprintf("pod %s: %s; ", p.Name, why)
		}
	}
	pause := min(attemptPause<<min(b.Incarnation-1, 5), attemptPauseLimit)
	left := pause - v.Now.Sub(youngest)
	if left <= 0 {
		return nil
	}
	return Wait{
		Reason: v1beta2.ReasonPodCannotStart, After: left,
		Message: fmt.Sprintf("%sattempt %d to start has failed, and another one begins %s after its pods were created", problem, b.Incarnation, pause),
	}
}

func createInitialMembers(v *view) Action {
	b := v.Cluster.Bootstrap
	var volumes []string
	var pods []NewPod
	for _, name := range b.Members {
		s, bound := initialPodOf(b, name)
		if bound && v.initialPodLost(s) {
			continue
		}
		c, there := v.volumes[name]
		if v.Cluster.Persistent && !there && !bound {
			volumes = append(volumes, name)
			continue
		}
		if _, ok := v.pods[name]; !ok && !c.Deleting {
			pods = append(pods, NewPod{
				Name: name, Incarnation: b.Incarnation, Permit: c.resumePermit(), Version: v.versionOn(c),
				Persistent: v.Cluster.Persistent && !bound || s.VolumeUID != "", Restores: b.Restore != "",
				Transport: v.Cluster.Transport.Served(),
			})
		}
	}
	var all []Action
	if len(volumes) > 0 {
		all = append(all, CreateVolumes{Names: volumes, Incarnation: b.Incarnation})
	}
	if len(pods) > 0 {
		all = append(all, CreatePods{Pods: pods})
	}
	return v.firstAllowed(all)
}

func waitForInitialQuorum(v *view) Action {
	b := v.Cluster.Bootstrap
	waiting, ok := v.waitForPods(b.Members).(Wait)
	early := len(b.InitialPods) < Quorum(len(b.Members))
	if report := v.reportRefused(); early && report != nil {
		return report
	}
	if ok && (early || waiting.Reason == v1beta2.ReasonPodCannotStart) {
		return waiting
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForEtcd, After: v.poll(),
		Message: fmt.Sprintf("waiting for a quorum of the initial members (%s) to answer", list(b.Members)),
	}
}

// deleteEarlierAttempts deletes what an abandoned attempt has left before new pods are created. A bootstrap always uses the
// same names.
func deleteEarlierAttempts(v *view) Action {
	pods, volumes := v.lostBeforeUse()
	return v.deleteAll(slices.Concat(v.previousPods, v.abandonedPods, pods), slices.Concat(v.previousVolumes, v.abandonedVolumes, volumes))
}
