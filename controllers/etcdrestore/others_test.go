package etcdrestore_test

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// two wants the later one to replace the first one, which does nothing more, and to look again at what the cluster
// holds if that changes meanwhile.
func (s *stage) two(t *testing.T) {
	s.running(t, "shared", false)
	skip := func(spec *v1beta2.EtcdRestoreSpec) { spec.SafetySnapshot = v1beta2.SafetySnapshotSkip }
	s.from(t, "first", "shared", skip)
	s.verified(t, "first")
	first := s.untilPhase(t, "first", v1beta2.RestoreReplacing)
	record := v1beta2.RestoreRecord{UID: string(first.UID), Name: "first", Snapshot: "snap.db"}
	s.attempt(t, "shared", record)
	s.from(t, "second", "shared", skip)
	s.verified(t, "second")
	s.untilPhase(t, "second", v1beta2.RestoreReplacing) // it does not wait
	s.untilSays(t, "first", v1beta2.ReasonRestoring)    // the cluster decides

	c := s.cluster(t, "shared")
	c.Status.Former, c.Status.ClusterID = nil, "1" // the first one was quicker
	must(t, s.Status().Update(t.Context(), c))
	o := s.until(t, "second", "another look", func(o *v1beta2.EtcdRestore) bool { return o.Status.ClusterID == "1" })
	if o.Status.Phase != v1beta2.RestoreReplacing || !strings.Contains(strings.Join(s.events, "\n"), "came to hold something else") {
		t.Errorf("it is %s; the events are %q", pretty(o), s.events)
	}
	s.record(t, "shared", v1beta2.RestoreRecord{UID: string(o.UID), Name: "second", Snapshot: "snap.db"}, false)
	s.says(t, s.untilPhase(t, "first", v1beta2.RestoreFailed), v1beta2.ReasonRestoreSuperseded, "has replaced the data since")
	s.replaced(t, "second", "shared")

	s.running(t, "contested", true)
	s.from(t, "older", "contested", nil)
	s.from(t, "younger", "contested", nil)
	s.verified(t, "older")
	s.untilPhase(t, "older", v1beta2.RestoreSaving)
	s.verified(t, "younger")
	s.untilPhase(t, "younger", v1beta2.RestoreSaving)
	s.says(t, s.untilPhase(t, "older", v1beta2.RestoreFailed), v1beta2.ReasonRestoreSuperseded, "EtcdRestore younger")

	s.running(t, "hasty", false)
	s.from(t, "regretted", "hasty", skip)
	s.verified(t, "regretted")
	regretted := s.untilPhase(t, "regretted", v1beta2.RestoreReplacing)
	s.attempt(t, "hasty", v1beta2.RestoreRecord{UID: string(regretted.UID), Name: "regretted", Snapshot: "snap.db"})
	s.from(t, "sober", "hasty", nil)
	s.verified(t, "sober")
	if o := s.untilPhase(t, "sober", v1beta2.RestoreReplacing); !strings.Contains(o.Status.Unsaved, "EtcdRestore regretted") {
		t.Errorf("what nobody has saved is not kept: %s", pretty(o))
	}
}

// otherCluster wants an EtcdCluster that has the name of another one to be left alone, and one that comes too late, too.
func (s *stage) otherCluster(t *testing.T) {
	c := s.running(t, "reborn", true)
	s.from(t, "pinned", "reborn", nil)
	s.untilPod(t, "pinned")
	if o := s.restore(t, "pinned"); o.Status.ClusterUID != string(c.UID) {
		t.Errorf("it is %s", pretty(o))
	}
	must(t, s.Delete(t.Context(), c))
	s.running(t, "reborn", true)
	s.says(t, s.untilPhase(t, "pinned", v1beta2.RestoreFailed), v1beta2.ReasonClusterReplaced, "to which nothing is done")

	now := s.clock.Now()
	defer s.clock.SetTime(now)
	s.from(t, "armed", "months-later", nil)
	s.untilSays(t, "armed", v1beta2.ReasonClusterMissing)
	s.clock.SetTime(s.restore(t, "armed").CreationTimestamp.Add(time.Hour))
	s.says(t, s.untilPhase(t, "armed", v1beta2.RestoreFailed), v1beta2.ReasonClusterMissing, "it was waited for until")
}
