package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// ranBefore does not bootstrap an empty cluster for an EtcdCluster under which coreos/etcd-operator has run one: clients would
// mistake it for the cluster that held their data.
func ranBefore(v *view) Action {
	if !v.Cluster.RanBefore || v.Cluster.WaitsForRestore != "" {
		return nil
	}
	return Blocked{
		Reason: v1beta2.ReasonRanBefore,
		Message: "coreos/etcd-operator has run a cluster under this EtcdCluster, and its data is not here: no empty cluster is started in its " +
			"place. Create an EtcdRestore to start from a snapshot, or, if the cluster may start empty, delete this EtcdCluster " +
			"and create it again",
	}
}

// waitForRestore keeps a cluster that is to start from a snapshot from bootstrapping with an empty database.
func waitForRestore(v *view) Action {
	if v.Cluster.WaitsForRestore == "" {
		return nil
	}
	if v.Cluster.CreateRestore {
		return CreateRestore{Name: v.Cluster.WaitsForRestore}
	}
	if why := v.Cluster.WaitFailed; why != "" {
		return Blocked{
			Reason:  v1beta2.ReasonRestoreFailed,
			Message: fmt.Sprintf("the cluster starts from a snapshot, and EtcdRestore %s %s", v.Cluster.WaitsForRestore, why),
		}
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForRestore, After: pollRare,
		Message: fmt.Sprintf("the cluster starts from a snapshot: waiting for EtcdRestore %s to verify it",
			v.Cluster.WaitsForRestore),
	}
}

// foreignVolume blocks the first start if an initial member's claim is not this cluster's: the member's pod would write to it.
func foreignVolume(v *view) Action {
	if !v.Cluster.Persistent {
		return nil
	}
	for _, c := range v.foreign {
		if slices.Contains(v.initialMembers(), c.Name) {
			return Blocked{
				Reason: v1beta2.ReasonForeignVolume,
				Message: foreignClaim(c) + "; an initial member needs that name: give this cluster another name, or " +
					"delete the claim once its data is no longer needed",
			}
		}
	}
	return nil
}

// copiedVolume blocks while there is a claim with a member's name that holds the data of a member which has no other claim
// here: a claim restored from a namespace backup or a VolumeSnapshot has a new UID. Adopting the other volumes without it might
// leave them without a quorum, and it could not be adopted later.
func copiedVolume(v *view) Action {
	if slices.ContainsFunc(v.Pods, func(p Pod) bool { return p.Permit != nil }) {
		return nil
	}
	for _, c := range v.foreign {
		if c.MemberID != 0 && c.Name == v.memberName(ordinal(c.Name)) && !slices.ContainsFunc(v.Volumes, c.sameMember) {
			return Blocked{
				Reason: v1beta2.ReasonForeignVolume,
				Message: foreignClaim(c) + "; it is marked as holding a member's data, so nothing is started next to it: assign it to " +
					"the cluster, delete it, or remove the labels",
			}
		}
	}
	return nil
}

// sameMember reports whether both volumes are marked as holding the data of the same member.
func (c Volume) sameMember(original Volume) bool {
	return c.ClusterID == original.ClusterID && c.MemberID == original.MemberID
}

// adoptVolumes adopts data for which there is no status: volumes retained from a deleted cluster of this name, or the pods and
// volumes of this cluster after its status was lost.
func adoptVolumes(v *view) Action {
	volumes := slices.Concat(v.Volumes, v.setAside())
	slices.SortFunc(volumes, func(a, b Volume) int { return CompareNames(a.Name, b.Name) })
	if len(volumes) == 0 && len(v.Pods) == 0 {
		return nil
	}
	ids := map[uint64]bool{}
	var names []string
	for _, c := range volumes {
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
	if blocked := v.transportDiffers(); blocked != nil {
		return blocked
	}
	if len(v.Volumes) == 0 && len(v.Pods) == 0 {
		return onlyQuarantined(names)
	}
	for id := range ids {
		return Adopt{ClusterID: id, Volumes: names}
	}
	return nil
}

// onlyQuarantined explains why nothing is adopted where nothing is left but what was set aside.
func onlyQuarantined(volumes []string) Action {
	return Blocked{
		Reason: v1beta2.ReasonVolumesExist,
		Message: "the only volumes (" + list(volumes) + ") are those of members that were replaced because their data differed from the " +
			"majority's, so nothing is started from them or next to them: restore a backup, or, if nothing better is left, take the annotation " +
			"etcd.database.coreos.com/quarantined off the claims",
	}
}

// transportDiffers blocks an adoption by a spec under which the members could not find each other: their URLs, which are in their
// data, say http or https, and for the latter they need certificates. The spec can ask for the other one once they run.
func (v *view) transportDiffers() Action {
	asked := v.Cluster.SpecTransport
	if v.adoptedTransport().ServesPeerTLS() == asked.PeerTLS {
		return nil
	}
	what := "there are pods of members"
	for _, c := range v.Volumes {
		if c.MemberID != 0 && c.Transport.ServesPeerTLS() != asked.PeerTLS {
			what = "volume " + c.Name + " holds the data of a member"
			break
		}
	}
	return Blocked{
		Reason: v1beta2.ReasonTLSSwitchNotSupported,
		Message: fmt.Sprintf("%s with %s, and the spec asks for %s: give spec.tls as the cluster of this name had it",
			what, v.adoptedTransport(), asked),
	}
}

// adoptionBlocked explains why the existing pods and volumes are not adopted and nothing is started next to them.
func (v *view) adoptionBlocked(volumes []string, clusters int) Action {
	var pods []string
	for _, p := range v.Pods {
		pods = append(pods, p.Name)
	}
	message := fmt.Sprintf("there are volumes with the data of %[2]d earlier clusters of this name (%[1]s): "+
		"keep those of one cluster, and delete the others once you are sure that they are not needed. A restore may have kept some "+
		"of them because it replaced their data", v.withClusterIDs(volumes), clusters)
	if clusters == 0 {
		what := "volumes " + list(volumes)
		if len(volumes) == 0 {
			what = "pods " + list(pods)
		}
		message = what + " have this cluster's labels but no cluster ID: nothing is started next to them; " +
			"find out where they come from and save their data, then delete them or give this cluster another name"
	}
	return Blocked{Reason: v1beta2.ReasonVolumesExist, Message: message}
}

// withClusterIDs lists volumes with the cluster ID of their data, for the user to tell them apart.
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

// commitBootstrap commits the bootstrap record of the first attempt.
func commitBootstrap(v *view) Action {
	return CommitBootstrap{Bootstrap: v.plannedBootstrap(v.nextIncarnation())}
}
