package etcdcluster

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestEachStepIsDecidedOn decides anew about certificates with each step of a switch: the Secret for applications says where they connect. The
// text of some steps is the same.
func TestEachStepIsDecidedOn(t *testing.T) {
	_, p := onePass(t, plan.Idle{}, interceptor.Funcs{})
	p.before = &v1beta2.EtcdClusterStatus{}
	seen := map[string]member.Transport{}
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
