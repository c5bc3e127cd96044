package world

import (
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// awaited is what has become of the EtcdRestore that a cluster is to start from.
type awaited int

// What becomes of it.
const (
	unmade awaited = iota
	made
	verified
	failed
)

// starts is what happens to a cluster before its first start.
var starts = map[Kind]transition{
	snapshotVerified: {
		name:    "the snapshot to start from is verified",
		ifWorld: func(w *World) bool { return w.Await == made },
		onWorld: func(w *World) { w.Await = verified },
	},
	awaitedDeleted: {
		name:    "somebody deletes the EtcdRestore that failed",
		ifWorld: func(w *World) bool { return w.Await == failed },
		onWorld: func(w *World) { w.Await = unmade },
	},
	awaitedFails: {
		name:    "the snapshot to start from is damaged",
		ifWorld: func(w *World) bool { return w.Await == made },
		onWorld: func(w *World) { w.Await = failed },
	},
	nameFreed: {
		name:    "somebody frees the name",
		ifWorld: func(w *World) bool { return w.Taken },
		onWorld: func(w *World) { w.Taken = false },
	},
	nameTaken: {
		name:    "somebody takes a name of the cluster's",
		ifWorld: func(w *World) bool { return !w.Taken },
		onWorld: func(w *World) { w.Taken = true },
	},
}

// StartFaults are those that a cluster can meet before it first runs.
var StartFaults = []Kind{awaitedFails, nameTaken}

// await notes the EtcdRestore that the cluster is to start from.
func (k *Kube) await(c *plan.Cluster) {
	if !k.FromSnapshot {
		return
	}
	if c.WaitsForRestore = clusterName + "-restore"; c.Bootstrap != nil {
		return
	}
	c.CreateRestore = k.Await == unmade
	if k.Await == failed {
		c.WaitFailed = "SnapshotDamaged"
	}
}

// createRestore creates that EtcdRestore.
func (w *World) createRestore() bool {
	if w.Await != unmade {
		return false
	}
	w.Await = made
	return true
}

// legacyPod is a member of coreos/etcd-operator.
var legacyPod = plan.Pod{Name: clusterName + "-x2kd9s", UID: "legacy", Phase: plan.Running, IP: "ip-legacy", Legacy: true}

// conflicts are the objects of others.
func (k *Kube) conflicts() []plan.Conflict {
	var all []plan.Conflict
	if k.Taken {
		all = append(all, plan.Conflict{Kind: "Service", Name: member.ClientService(clusterName), Owner: "nobody"})
	}
	for i := range k.Pods {
		if p := &k.Pods[i]; p.Former {
			all = append(all, plan.Conflict{Kind: plan.KindPod, Name: p.Name, Owner: "EtcdCluster " + clusterName, Terminating: true})
		}
	}
	return all
}

// invalidReason is that of a spec that cannot be carried out.
const invalidReason = v1beta2.ReasonInvalidOption

// excused reports whether the operator may rest with that answer although the spec is not reached.
func (w *World) excused(a plan.Action, reached bool) bool {
	switch act := a.(type) {
	case plan.Idle:
		return w.Paused && act.Reason == v1beta2.ReasonPaused || w.Deleted && act.Reason == v1beta2.ReasonTerminating
	case plan.Wait: // until the first member of a cluster is given more; or for members of then, if nothing else shows that status is of then
		return w.SetBack || act.Reason == v1beta2.ReasonPodCannotStart && w.Status.ID == 0 && w.famished()
	case plan.Blocked:
		switch act.Reason {
		case invalidReason:
			return w.Invalid && (reached || w.Status.Bootstrap == nil)
		case v1beta2.ReasonLegacyMembers:
			return w.Legacy
		case v1beta2.ReasonRanBefore:
			return w.Status.RanBefore && w.asked() == 0
		case v1beta2.ReasonForeignVolume:
			return w.Status.ID == 0 && w.stranger()
		case v1beta2.ReasonStatusOutdated:
			return w.SetBack
		case v1beta2.ReasonRevisionRegressed:
			return w.rolledBack()
		}
	default:
	}
	return false
}

// stranger reports whether a claim of another owner has the name of a member, before there is any.
func (w *World) stranger() bool {
	for i := range w.Volumes {
		b, v := w.Status.Bootstrap, &w.Volumes[i]
		if v.Foreign != "" && (ordinal(v.Name) < w.Size || b != nil && slices.Contains(b.Members, v.Name)) {
			return true
		}
	}
	return false
}

// rolledBack reports whether the cluster has lost what was acknowledged, and its status knows.
func (w *World) rolledBack() bool {
	g := w.Etcd.Group(w.Status.ID)
	return w.Status.ID != 0 && g != nil && !g.Written && w.Status.Revision >= writtenRevision
}
