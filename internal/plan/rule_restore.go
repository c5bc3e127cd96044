package plan

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// restore begins an incarnation whose one member starts from a snapshot, whatever state the cluster is in. It is committed
// before anything of the old one is touched, and the others join the restored member as learners.
func restore(v *view) Action {
	if v.Cluster.Restore == "" {
		return nil
	}
	return CommitBootstrap{Bootstrap: v.bootstrap(v.nextIncarnation(), v.freeNames(1), v.Cluster.Restore)}
}

// nextIncarnation is higher than that of all there is, also of what was taken over from an earlier cluster.
func (v *view) nextIncarnation() int {
	n := v.generation()
	for _, p := range v.Pods {
		n = max(n, p.Incarnation)
	}
	for _, c := range v.Volumes {
		n = max(n, c.Incarnation)
	}
	return n + 1
}

// awaitRestore keeps a cluster from starting from nothing that is to start from a snapshot.
func awaitRestore(v *view) Action {
	if v.Cluster.Bootstrap != nil || v.Cluster.AwaitsRestore == "" {
		return nil
	}
	if v.Cluster.MakeRestore {
		return CreateRestore{Name: v.Cluster.AwaitsRestore}
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForRestore, After: pollRare,
		Message: fmt.Sprintf("the cluster starts from a snapshot: waiting until EtcdRestore %s has verified it",
			v.Cluster.AwaitsRestore),
	}
}

// restoreAgain gives an attempt up whose data was lost after it was restored, and before anybody could use it.
func (v *view) restoreAgain() Action {
	b := v.Cluster.Bootstrap
	if p, ok := v.pods[b.Members[0]]; ok && p.Exit.Hopeless() {
		return CommitBootstrap{Bootstrap: v.bootstrap(b.Incarnation+1, v.freeNames(1), b.Restore)}
	}
	return nil
}

// permitRestored lets the member start from the data that was restored, and from nothing else.
func (v *view) permitRestored() Action {
	b := v.Cluster.Bootstrap
	name := b.Members[0]
	p, ok := v.pods[name]
	if !ok || p.Deleting || p.Permit != nil || !p.up() {
		return nil
	}
	ids, _ := IDs(b.Token, v.peerURLs(b.Members))
	return WritePermits{Permits: []PodPermit{{Pod: name, UID: p.UID, Permit: Permit{
		Mode: ModeResume, ClusterID: b.ClusterID, MemberID: ids[name],
	}}}}
}

// awaitRestored names what the restored member is at.
func (v *view) awaitRestored() Action {
	name := v.Cluster.Bootstrap.Members[0]
	if w, ok := v.waitForPods([]string{name}).(Wait); ok && w.Reason == v1beta2.ReasonPodCannotStart {
		return w
	}
	if !v.pods[name].up() {
		return Wait{
			Reason: v1beta2.ReasonRestoring, After: v.poll(),
			Message: fmt.Sprintf("waiting until %s has made its data of the snapshot", name),
		}
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForEtcd, After: v.poll(),
		Message: fmt.Sprintf("waiting until etcd answers on the restored data of %s", name),
	}
}
