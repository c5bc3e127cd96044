// Package plan decides what the operator does next. It is pure: no client, context, clock, randomness or logger.
//
//	Observed (plain data) -> Assessment -> rules -> guards -> one Action (plain data) -> Effects, in order
//	                                                                                  -> Record.Apply: what status keeps of it
//
// The rules are in ordered lists (lists.go), and the first one that returns an action wins: the lists are the specification. Rules
// read the assessment and never call each other. Waiting is an action too, so that "why does it not act?" always has an answer.
// The operator can log what it has observed, and Explain returns which rules were evaluated and which one applied (package replay,
// hack/replay).
//
// The life of a member, whose pod, volume and etcd member have the same name:
//
//	(nothing) --CreateVolumes,CreatePods--> candidate: pod waits in member-run, volume never used
//	candidate --AddLearner--> listed, unpublished --WritePermits--> learner --Promote--> voter --AddToService--> in service
//	voter --pod gone, data there--> CreatePods with a resume permit
//	any   --data gone, or surplus--> RemoveMember --> orphan --DeletePod,DeleteVolume--> (nothing)
//
// The initial members of a cluster skip AddLearner and Promote: they are committed to status, bound to one pod each, and started
// together with initial-cluster-state=new until the cluster ID is recorded.
//
// # Terms
//
//   - adopt: to take ownership of volumes that hold a cluster's data, when there is no status for it.
//   - budget: the PodDisruptionBudget. The operator raises minAvailable to block evictions while it disrupts a voter.
//   - cancel, a restore: to abandon it before the cluster ID is recorded and go back to the previous members. The API says "called
//     off" (status.restores[].calledOff).
//   - candidate: a new member's pod that is not in etcd's member list yet.
//   - claim: which of several operators acts on an object (package claim). In messages, a PersistentVolumeClaim.
//   - effect: one of the changes that make up an action; the operator may crash before and after each.
//   - electorate: the voters whose responses count, known before any server is queried.
//   - foreign: of a volume, not provably the cluster's despite its labels; of a server, answering for another cluster.
//   - healthy: see Assessment.Healthy.
//   - incarnation: the number of an attempt to start the cluster, with an empty database or from a snapshot; pods and volumes
//     have it.
//   - initial member: one that starts the cluster, rather than joins it.
//   - kept: of a volume, replaced by a restore or written to during a canceled one, or of a member that was quarantined; only the user
//     deletes it.
//   - orphan: a pod or volume of the cluster whose member is not in etcd's member list.
//   - permit: an annotation by which the operator permits member-run to start etcd in a pod, and as which member.
//   - previous: what a restore in progress replaces (status.internal.former); of a spec, the one before the update in progress.
//     Before the first start it is also what an abandoned bootstrap has left.
//   - published: of a member, etcd in it has started once and announced its client URLs.
//   - quarantine: to replace a member whose data differs from what a majority of the voters agrees on.
//   - record: the part of status that decisions depend on (Record). Only Record.Apply changes it.
//   - record the cluster ID: to write it to status once a quorum answers with it. From then on there is no way back.
//   - unrelated: a pod or claim with the cluster's labels that does not belong to the cluster and does no harm.
package plan
