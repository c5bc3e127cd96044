package etcdbackup

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestDoubt is about data that is known to differ among the members.
func TestDoubt(t *testing.T) {
	held := func(feature, reason string) v1beta2.EtcdClusterStatus {
		return v1beta2.EtcdClusterStatus{Autopilot: &v1beta2.AutopilotStatus{Held: []v1beta2.HeldAct{{Feature: feature, Reason: reason}}}}
	}
	replaced := v1beta2.EtcdClusterStatus{}
	replaced.Quarantined = &v1beta2.QuarantinedMember{Name: "c-1"}
	corrupt := v1beta2.EtcdClusterStatus{Conditions: []metav1.Condition{{Type: v1beta2.ConditionAvailable, Reason: v1beta2.ReasonCorrupt}}}
	for title, c := range map[string]struct {
		status v1beta2.EtcdClusterStatus
		says   string // nothing if empty
	}{
		"nothing is known":           {v1beta2.EtcdClusterStatus{}, ""},
		"a member is being replaced": {replaced, "member c-1"},
		"nobody knows who is right":  {held("divergedMember", v1beta2.ReasonDivergedMemberUnclear), v1beta2.ReasonDivergedMemberUnclear},
		"etcd says so":               {corrupt, "alarm CORRUPT"},
		"something else is held":     {held("noSpace", v1beta2.ReasonSpaceExhausted), ""},
	} {
		got := doubtOf(&v1beta2.EtcdCluster{Status: c.status})
		if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q", title, got, c.says)
		}
	}
}

// TestIntervalWhileAsleep exports no interval while the cluster hibernates, so that nobody is told of backups that are not due.
func TestIntervalWhileAsleep(t *testing.T) {
	p := &backupPass{object: &v1beta2.EtcdBackup{Spec: v1beta2.EtcdBackupSpec{Schedule: "0 * * * *"}}}
	p.observed.Now = time.Date(2026, 11, 28, 12, 30, 0, 0, time.UTC)
	if got := p.interval(); got != time.Hour {
		t.Errorf("while the cluster runs: %s", got)
	}
	if p.observed.Asleep = "its members are stopped"; p.interval() != 0 {
		t.Errorf("while it hibernates: %s", p.interval())
	}
}
