package stories

import (
	"context"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// ready holds when so many members are ready, whatever else is still going away.
func (s *story) ready(want int) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return harness.Words(object), len(object.Status.Members.Ready) == want && int(object.Status.Size) == want
	}
}

// TestQuorumLost freezes two of three members: nothing may be changed, and status must say who is missing since when.
func TestQuorumLost(t *testing.T) {
	t.Parallel()
	s := begin(t, "quorum", onVolumes(3))
	s.settled()
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	before, frozen := map[string]string{}, object.Status.Members.Ready[:2]
	for _, m := range object.Status.MemberStatuses {
		before[m.Name] = m.ID
	}
	for _, name := range frozen {
		must(t, nodes.Faults().FreezeContainer(t.Context(), s.Namespace+"/"+name+"/etcd"))
	}
	s.resize(5)
	s.says(v1beta2.ConditionAvailable, v1beta2.ReasonQuorumLost)
	object, err = s.Cluster.Get(t.Context())
	must(t, err)
	words := harness.Words(object)
	if object.Status.QuorumLostSince == nil || object.Status.Phase != v1beta2.ClusterPhaseUnavailable ||
		!strings.Contains(words, strings.Join(frozen, ", ")) {
		t.Errorf("status does not tell who is missing since when: %s, %+v", words, object.Status)
	}
	for _, name := range frozen {
		must(t, nodes.Faults().ThawContainer(t.Context(), s.Namespace+"/"+name+"/etcd"))
	}
	s.healthy("thawed, and grown as asked meanwhile")
	for name, id := range before {
		if got := s.member(name).ID; got != id {
			t.Errorf("member %s had the ID %s and has %s: it was replaced without need", name, id, got)
		}
	}
}

// TestDataLost kills the only copy: the operator must say so, and never start empty in its place.
func TestDataLost(t *testing.T) {
	t.Parallel()
	s := begin(t, "only", v1beta2.EtcdClusterSpec{Size: 1})
	s.settled()
	must(t, s.KillPod(t.Context(), "only-0"))
	s.says(v1beta2.ConditionDegraded, v1beta2.ReasonDataLost)
	pods, err := s.Pods(t.Context())
	must(t, err)
	if len(pods) != 0 {
		t.Errorf("%d pods were started over lost data", len(pods))
	}
}
