package etcdcluster

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestSidesOfVolumes keeps the certificates of a member whose pod is lost and would serve TLS, and of one that a canceled restore brings back; not
// those of a volume that nobody uses any more.
func TestSidesOfVolumes(t *testing.T) {
	secured := plan.Volume{Name: "c-0", ClusterID: 7, MemberID: 1, Transport: member.Transport{PeerTLS: true, PeerBoth: true}}
	kept, unused := secured, secured
	kept.ClusterID, unused.MemberID = 6, 0
	for name, c := range map[string]struct {
		volume plan.Volume
		record plan.Record
		want   bool
	}{
		"a member's":                           {secured, plan.Record{ID: 7}, true},
		"one that was never used":              {unused, plan.Record{ID: 7}, false},
		"another cluster's":                    {kept, plan.Record{ID: 7}, false},
		"the one that a restore is to replace": {kept, plan.Record{Previous: &plan.Record{ID: 6}}, true},
	} {
		_, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
		clear(p.pods)
		p.observed.Cluster.Record, p.observed.Volumes = c.record, []plan.Volume{c.volume}
		p.observeSides()
		if p.sides.PeerTLS != c.want || p.sides.ClientTLS {
			t.Errorf("%s: certificates are for %+v", name, p.sides)
		}
	}
}

// TestEachStepIsDecidedOn decides anew about certificates with each step of a switch: the Secret for applications says where they connect. The
// text of some steps is the same.
func TestEachStepIsDecidedOn(t *testing.T) {
	_, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
	p.before = &v1beta2.EtcdClusterStatus{}
	seen := map[digest]member.Transport{}
	for _, step := range []member.Transport{
		{},
		{ClientBoth: true, PeerBoth: true},
		{ClientTLS: true, ClientBoth: true, PeerTLS: true, PeerBoth: true, PeerPort: member.OtherPeerPort},
		{ClientTLS: true, PeerTLS: true, PeerPort: member.OtherPeerPort},
		{ClientTLS: true, PeerTLS: true},
	} {
		p.transport = step
		if before, found := seen[dependsOn(p)]; found {
			t.Errorf("%#v is taken for %#v", step, before)
		}
		seen[dependsOn(p)] = step
	}
}
