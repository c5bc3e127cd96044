// Package plan decides what the operator does next. It is pure: no client, context, clock, randomness or logger.
//
//	Observed (plain data) -> Assessment -> rules -> guards -> one Action (plain data) -> Effects, in order
//	                                                                                  -> Record.Apply, what status keeps of it
//
// The rules stand in ordered lists (lists.go); the first that answers wins, so the lists are the specification. They read the
// assessment and never call each other. A wait is an answer too: "why does it not act?" always has a reason. What an operator has
// observed can be had from its log, and Explain tells who was asked about it and who has answered (package replay, hack/replay).
//
// A member's life, all of it under one name for pod, volume and etcd member:
//
//	(nothing) --CreateVolumes,CreatePods--> candidate: pod waits in member-run, volume never used
//	candidate --AddLearner--> listed, unpublished --WritePermits--> learner --Promote--> voter --Serve--> in service
//	voter --pod gone, data there--> CreatePods with a resume permit
//	any   --data gone, or surplus--> RemoveMember --> orphan --DeletePod,DeleteVolume--> (nothing)
//
// The first members of a cluster skip AddLearner and Promote: they are committed to status, seated (bound to one pod
// each) and started together with initial-cluster-state=new until the cluster ID is latched.
//
// # Terms
//
//   - adopt: to take up volumes that have a cluster's data and no status to go with it.
//   - called off, of a restore: given up before the latch; the cluster goes back to the former members.
//   - claim: which of several operators acts on an object (package claim). Messages call a PersistentVolumeClaim so, too.
//   - effect: one change that an action consists of; the operator can stop before and after each.
//   - electorate: the voters whose word counts, known before anybody is asked.
//   - foreign: a volume with the cluster's labels that is not provably its own; a server that answers for another cluster.
//   - former: what a restore under way replaces. Of a spec, the one before the update that is being carried out.
//   - incarnation: the number of an attempt at a start, from nothing or from a snapshot; pods and volumes carry it.
//   - kept: a volume that a restore has replaced, or that an attempt at one was let write to; it is the user's to delete.
//   - latch: to write the cluster ID to status once a quorum answers with it. From then on there is no way back.
//   - orphan: a pod or volume of the cluster whose member the quorum does not list.
//   - permit: the operator's word to member-run, written on a pod, that etcd may start there, and as whom.
//   - record: what status keeps from pass to pass, all of it that a decision depends on.
//   - seat: the one pod, and volume, in which a first member may start from nothing.
//   - stranger: a pod or claim with the cluster's labels that is not the cluster's and is in nobody's way.
package plan
