package plan

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// recoverQuorum has the data of a cluster whose quorum is lost restored from what the survivor holds, once that is confirmed for the
// plan as it is now. It stops nobody: the EtcdRestore first saves and verifies that data, and begins only if the plan is still the same
// (startRestore).
func recoverQuorum(v *view) Action {
	r, c := v.Recovery, v.Cluster.Recovery
	if r == nil {
		return nil
	}
	switch {
	case c.RestorePlan == r.Hash && c.RestoreFailed != "":
		return Blocked{Reason: v1beta2.ReasonRecoveryFailed, Message: fmt.Sprintf(
			"recovering from the lost quorum with what %s holds has failed, and nothing was replaced: EtcdRestore %s: %s; delete it to try again",
			r.Survivor, c.Restore, c.RestoreFailed)}
	case c.RestorePlan == r.Hash && r.HeldBack == "":
		return Wait{Reason: v1beta2.ReasonRecoveringQuorum, After: v.poll(), Message: fmt.Sprintf(
			"recovering from the lost quorum with what %s holds, by plan %s: EtcdRestore %s saves and verifies it first", r.Survivor, r.Hash, c.Restore)}
	case c.Confirmed == r.Hash && c.RestorePlan != r.Hash && r.HeldBack == "":
		return CreateRestore{Name: v.Cluster.Name + "-recover-" + r.Hash, Survivor: r.Survivor, Plan: r.Hash}
	}
	return nil
}
