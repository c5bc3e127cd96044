package stories

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestAutopilotDivergedUnclear changes values so that nobody can tell whose data is wrong: nobody may be replaced, however often it is compared, and
// status says why.
func TestAutopilotDivergedUnclear(t *testing.T) {
	for name, c := range map[string]unclear{"diverged-one-of-two": {2, values[:1]}, "diverged-all": {3, values[:2]}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			editions(t, func(t *testing.T, etcd edition) { divergedUnclear(t, etcd, name, c) })
		})
	}
}

// unclear is a cluster of that size with the values to change, each in another member.
type unclear struct {
	size  int32
	wrong []string
}

func divergedUnclear(t *testing.T, etcd edition, name string, c unclear) {
	s := etcd.begin(t, name, onVolumes(c.size))
	s.settled()
	s.client()
	s.keepsValues()
	members, pods := s.ids(), s.uids()
	for i, value := range c.wrong {
		s.diverge(fmt.Sprintf("%s-%d", s.Name, i), value)
	}
	s.compacting("Auto Pilot says that nobody can tell whose data is wrong", func(object *v1beta2.EtcdCluster) bool {
		return held(object, "divergedMember", v1beta2.ReasonDivergedMemberUnclear, "differs")
	})
	s.savesSnapshot()
	s.comparesAgain()
	s.never("a member is to be replaced although nobody can tell whose data is wrong, or nothing is held any more", quietFor, func(ctx context.Context) (bool, error) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return false, err
		}
		return object.Status.Quarantined != nil || !held(object, "divergedMember", v1beta2.ReasonDivergedMemberUnclear, "no member is replaced") ||
			s.ids() != members || s.uids() != pods, nil
	})
	s.unsaid(v1beta2.ReasonDivergedMember)
	s.report("a client of members whose data differs elsewhere saw")
}

// comparesAgain compacts until the operator has compared the members once more: what one comparison shows, another one confirms.
func (s *story) comparesAgain() {
	s.t.Helper()
	before, err := s.compared()
	must(s.t, err)
	s.compacting("the members are compared once more", func(*v1beta2.EtcdCluster) bool {
		now, err := s.compared()
		return err == nil && now > before
	})
}

// compared is how often each member has told a hash of its data, at least. Nobody asks for one but the operator, and it asks all of them.
func (s *story) compared() (least float64, err error) {
	s.t.Helper()
	const told = `grpc_server_handled_total{grpc_code="OK",grpc_method="HashKV",grpc_service="etcdserverpb.Maintenance",grpc_type="unary"}`
	least = math.Inf(1)
	for _, pod := range s.memberPods() {
		n, err := s.Metric(s.t.Context(), pod.Name, told)
		if err != nil {
			return 0, err
		}
		least = min(least, n)
	}
	return least, nil
}

// snapshotting is of those who type the document's commands, which listen on one port of this machine.
var snapshotting sync.Mutex

// savesSnapshot types what the document has those type who have to find out whose data is right.
func (s *story) savesSnapshot() {
	s.t.Helper()
	snapshotting.Lock()
	defer snapshotting.Unlock()
	r := s.reader()
	r.finds("etcdctl", builtEtcdctl(s.t))
	r.runs(s.commands("autopilot.md", "Diverged members", "snapshot save"))
	if saved, err := os.Stat(filepath.Join(r.at.Folder, s.Name+"-0.db")); err != nil || saved.Size() == 0 {
		s.t.Errorf("no snapshot of the first member was saved: %v", err)
	}
}
