package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// recovery is what can be done about a lost quorum, nil while there is one.
func recovery(in Input) *v1beta2.RecoveryStatus {
	p, c := in.Assessment.Recovery, in.Observed.Cluster.Recovery
	if p == nil {
		return nil
	}
	shown := &v1beta2.RecoveryPlan{
		Hash: p.Hash, Survivor: p.Survivor, Revision: p.Revision, Lost: p.Lost, Silent: p.Silent, HeldBack: p.HeldBack, Message: p.Message,
	}
	if b := c.Backup; b.Snapshot != "" {
		shown.Backup = &v1beta2.RecoveryBackup{
			EtcdBackup: b.EtcdBackup, Snapshot: b.Snapshot, Revision: b.Revision, CreationTime: metav1.NewTime(b.Taken),
		}
	}
	return &v1beta2.RecoveryStatus{Plan: shown}
}
