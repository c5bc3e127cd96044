package etcdrestore

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// voidOf is why an EtcdRestore is not to restore what a surviving member holds: its plan is no longer the cluster's. It is nil while that
// is the plan, or there is none because the survivor does not answer for a moment. The EtcdCluster's controller decides for itself, on
// what it observes at that moment, before anything is replaced.
func voidOf(c *v1beta2.EtcdCluster, o *v1beta2.EtcdRestore) *failure.Problem {
	m, s := o.Spec.Member, &c.Status
	void := func(format string, args ...any) *failure.Problem {
		return &failure.Problem{Reason: v1beta2.ReasonRecoveryVoid, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case m == nil:
		return nil
	case s.ClusterID == "":
		return void("EtcdCluster %s is being restored otherwise, or has never been up", c.Name)
	case s.QuorumLostSince == nil:
		return void("EtcdCluster %s has a quorum again: what %s holds is not needed", c.Name, m.Name)
	case s.Recovery != nil && s.Recovery.Plan != nil && (s.Recovery.Plan.Hash != m.Plan || s.Recovery.Plan.Survivor != m.Name):
		return void("the plan of EtcdCluster %s is %s, to recover from %s, and no longer %s: see its status.recovery.plan, and confirm that one if it is "+
			"what you want", c.Name, s.Recovery.Plan.Hash, s.Recovery.Plan.Survivor, m.Plan)
	}
	return nil
}
