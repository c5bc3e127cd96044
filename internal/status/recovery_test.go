package status

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestRecovery shows the plan of a cluster that has lost its quorum, and none once it has one again.
func TestRecovery(t *testing.T) {
	in := threeMembers()
	in.Cluster.Status.MemberStatuses = []v1beta2.MemberStatus{
		{Name: "m-0", Role: v1beta2.MemberRoleVoter}, {Name: "m-1", Role: v1beta2.MemberRoleVoter}, {Name: "m-2", Role: v1beta2.MemberRoleVoter},
	}
	in.Cluster.Status = compute(in)
	if in.Cluster.Status.Recovery != nil {
		t.Errorf("with a quorum: %+v", in.Cluster.Status.Recovery)
	}
	o := &in.Observed
	o.Etcd.Contact, o.Etcd.Members, o.Etcd.Answers = plan.ContactMinority, nil, slices.Clone(o.Etcd.Answers[:1])
	o.Etcd.Answers[0].Leader, o.Etcd.Answers[0].Revision = 0, 4711
	o.Pods = slices.Clone(o.Pods[:2])
	o.Cluster.Recovery.HeldBack = "name a backup"
	o.Cluster.Recovery.Backup = plan.RecoveryBackup{EtcdBackup: "nightly", Snapshot: "s", Revision: 9, Taken: at.Add(-time.Hour)}
	if s := compute(in); s.Recovery != nil {
		t.Errorf("before it is recorded since when the quorum is lost: %+v", s.Recovery)
	}
	o.Cluster.QuorumLostSince = at
	s := compute(in)
	if s.Recovery == nil {
		t.Fatalf("without a quorum there is no plan: %+v", s.Conditions)
	}
	p := s.Recovery.Plan
	want := &v1beta2.RecoveryPlan{
		Hash: p.Hash, Message: p.Message, Survivor: "m-0", Revision: 4711, Lost: []string{"m-2"}, Silent: []string{"m-1"}, HeldBack: "name a backup",
		Backup: &v1beta2.RecoveryBackup{EtcdBackup: "nightly", Snapshot: "s", Revision: 9, CreationTime: metav1.NewTime(at.Add(-time.Hour))},
	}
	if !reflect.DeepEqual(p, want) || p.Hash == "" {
		t.Errorf("the plan is %+v, want %+v", p, want)
	}
	for _, word := range []string{"m-0", "4711", "m-1", p.Hash, "name a backup", "nightly"} {
		if !strings.Contains(p.Message, word) {
			t.Errorf("%q says nothing of %s", p.Message, word)
		}
	}
}
