package stories

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestAutopilotCorrupt has a member's data differ, and etcd's alarm CORRUPT say so, which the test raises because etcd's own checks are off. As long as
// the alarm names nobody, nothing may be done. Once it names the member, one comparison is enough: the member is replaced, the alarm disarmed, and
// writes are taken again.
func TestAutopilotCorrupt(t *testing.T) {
	t.Parallel()
	editions(t, autopilotCorrupt)
}

func autopilotCorrupt(t *testing.T, etcd edition) {
	s := etcd.begin(t, "corrupt", onVolumes(3))
	s.settled()
	s.client()
	s.keepsValues()
	culprit := s.followerPod()
	volume, id := s.claim(culprit.Name).UID, s.member(culprit.Name).ID
	number, err := strconv.ParseUint(id, 16, 64)
	must(t, err)
	s.diverge(culprit.Name, values[0])
	s.compact() // with the alarm etcd takes no other, and compares nothing but this one
	s.compactedEverywhere()
	s.report("the member has diverged")

	s.raises(0)
	s.look("nobody")
	must(t, harness.Await(t.Context(), "Auto Pilot says that the alarm names another one", limit, func(ctx context.Context) (string, bool) {
		return s.heldFor(ctx, "divergedMember", v1beta2.ReasonDivergedMemberUnclear, "alarm CORRUPT names")
	}))
	s.never("a member is removed although the alarm names nobody", quietFor, func(ctx context.Context) (bool, error) {
		listed, err := s.lists(ctx, id)
		return !listed, err
	})
	s.disarms(0)

	began := time.Now()
	s.raises(number)
	s.look("named")
	must(t, harness.Await(t.Context(), "the member is removed, and no alarm is left", limit, func(ctx context.Context) (string, bool) {
		text, alarms := s.alarms(ctx)
		listed, err := s.lists(ctx, id)
		return fmt.Sprintf("alarms: %s; status lists the member: %t, %v", text, listed, err), alarms == 0 && err == nil && !listed
	}))
	took := s.writesTaken(began)
	must(t, s.Recovered(t.Context(), culprit.UID, limit))
	s.settled()
	s.measures("a member that etcd's alarm CORRUPT names, from the alarm until a write is taken again", fmt.Sprintf("%.1f s", took.Seconds()))
	s.report("it was replaced")
	s.toldOnce(v1beta2.ReasonDivergedMemberReplaced)
	s.toldOnce(v1beta2.ReasonAlarmDisarmed)
	s.keeps("", 1)
	if got := s.claim(culprit.Name); got.UID != volume || got.DeletionTimestamp != nil {
		t.Errorf("the volume of %s is not kept: it had the UID %s, and has %s", culprit.Name, volume, got.UID)
	}
	s.allHaveValues()
}

// compactedEverywhere waits until all members have made the same compaction since they started: then they have its hash.
func (s *story) compactedEverywhere() {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "all members have compacted", limit, func(ctx context.Context) (string, bool) {
		pods, err := s.Pods(ctx)
		if err != nil {
			return err.Error(), false
		}
		said, revisions := "", map[float64]bool{}
		for _, pod := range pods {
			revision, err := s.Metric(ctx, pod.Name, "etcd_debugging_mvcc_compact_revision")
			last, ended := s.Metric(ctx, pod.Name, "etcd_debugging_mvcc_db_compaction_last")
			said += fmt.Sprintf("%s has compacted to %.0f, at %.0f: %v, %v; ", pod.Name, revision, last, err, ended)
			if err != nil || ended != nil || last == 0 {
				return said, false
			}
			revisions[revision] = true
		}
		return said, len(revisions) == 1
	}))
}

// raises has etcd raise its alarm CORRUPT about a member, 0 for none, as its own checks would.
func (s *story) raises(member uint64) { s.alarm(etcdserverpb.AlarmRequest_ACTIVATE, member) }

// disarms ends that alarm.
func (s *story) disarms(member uint64) { s.alarm(etcdserverpb.AlarmRequest_DEACTIVATE, member) }

func (s *story) alarm(what etcdserverpb.AlarmRequest_AlarmAction, member uint64) {
	s.t.Helper()
	must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
		_, err := etcdserverpb.NewMaintenanceClient(etcd.ActiveConnection()).Alarm(ctx, &etcdserverpb.AlarmRequest{
			Action: what, MemberID: member, Alarm: etcdserverpb.AlarmType_CORRUPT,
		})
		return err
	}))
}

// alarms are those that etcd has, and how many.
func (s *story) alarms(ctx context.Context) (text string, n int) {
	err := s.Ask(ctx, func(ctx context.Context, etcd *clientv3.Client) error {
		list, err := etcd.AlarmList(ctx)
		if err == nil {
			text, n = fmt.Sprint(list.Alarms), len(list.Alarms)
		}
		return err
	})
	if err != nil {
		return err.Error(), -1
	}
	return text, n
}

// lists reports whether etcd, as status has it, lists the member with that ID.
func (s *story) lists(ctx context.Context, id string) (bool, error) {
	c, err := s.Cluster.Get(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(c.Status.MemberStatuses, func(m v1beta2.MemberStatus) bool { return m.ID == id }), nil
}
