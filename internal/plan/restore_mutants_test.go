package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Mistakes in restores.

func deleteReplaced(o plan.Observed) plan.Action {
	for _, v := range o.Volumes {
		if !o.Cluster.Current(v.Incarnation) && !v.Deleting {
			return plan.DeleteVolume{Name: v.Name, UID: v.UID}
		}
	}
	return plan.Next(o)
}

func restoreAgain(o plan.Observed) plan.Action {
	if b := o.Cluster.Bootstrap; b != nil && b.Restore != "" && o.Cluster.ID != 0 {
		o.Cluster.Restore = b.Restore
	}
	return plan.Next(o)
}

func forgetOld(o plan.Observed) plan.Action {
	o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p plan.Pod) bool { return !o.Cluster.Current(p.Incarnation) })
	return plan.Next(o)
}
