package etcdbackup

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestDoubt is about data that is known to differ among the members.
func TestDoubt(t *testing.T) {
	held := func(feature string) v1beta2.EtcdClusterStatus {
		return v1beta2.EtcdClusterStatus{Autopilot: &v1beta2.AutopilotStatus{Held: []v1beta2.HeldAct{{Feature: feature}}}}
	}
	replaced := v1beta2.EtcdClusterStatus{}
	replaced.Quarantined = &v1beta2.QuarantinedMember{Name: "c-1"}
	recorded := func(d v1beta2.DataDoubt) (s v1beta2.EtcdClusterStatus) {
		s.Doubt = &d
		return s
	}
	for title, c := range map[string]struct {
		status v1beta2.EtcdClusterStatus
		says   string // nothing if empty
	}{
		"nothing is known":           {v1beta2.EtcdClusterStatus{}, ""},
		"a member is being replaced": {replaced, "member c-1"},
		"nobody knows who is right":  {recorded(v1beta2.DataDoubt{Split: true}), "not known whose is right"},
		"one is suspected":           {recorded(v1beta2.DataDoubt{Suspect: "a1"}), "not known whose is right"},
		"etcd says so":               {recorded(v1beta2.DataDoubt{}), "alarm CORRUPT"},
		"something else is held":     {held(plan.FeatureNoSpace), ""},
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
