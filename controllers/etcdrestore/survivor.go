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

// otherThanSaved is why what was verified is not what was saved of the survivor: somebody else writes where it is kept, and nothing may
// start from that. It is nil if it is the same, if one of them is still to be done, or if no member's data is restored.
func otherThanSaved(c *v1beta2.EtcdCluster, o *v1beta2.EtcdRestore) *failure.Problem {
	m, saved, verified := o.Spec.Member, o.Status.SafetySnapshot, o.Status.Snapshot
	if m == nil || saved == nil {
		return nil
	}
	if verified != nil && verified.SHA256 != saved.SHA256 {
		return &failure.Problem{Reason: v1beta2.ReasonSnapshotDamaged, Message: fmt.Sprintf(
			"%s was saved of %s with SHA-256 %s and read back with %s: somebody else writes where it is kept", saved.Name, m.Name, saved.SHA256, verified.SHA256)}
	}
	if r := c.Status.Recovery; r != nil && r.Plan != nil && r.Plan.Hash == m.Plan && saved.Revision < r.Plan.Revision {
		return &failure.Problem{Reason: v1beta2.ReasonRecoveryVoid, Message: fmt.Sprintf(
			"%s gave a snapshot of revision %d, and the plan promises %d", m.Name, saved.Revision, r.Plan.Revision)}
	}
	return nil
}
