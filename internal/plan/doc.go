// Package plan decides what the operator does next. It is pure: no client, context, clock, randomness or logger.
//
//	Observed (plain data) -> Next -> one Action (plain data)
//
// The rules stand in ordered lists (next.go); the first that answers wins, so the lists are the specification. A wait
// is an answer too: "why does it not act?" always has a reason.
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
package plan
