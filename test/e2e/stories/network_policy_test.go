package stories

import (
	"context"
	"fmt"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestNetworkPolicies has the nodes enforce NetworkPolicies, and connects to all members from pods that may and pods that may not. No
// other story runs meanwhile.
func TestNetworkPolicies(t *testing.T) {
	must(t, nodes.NetworkPolicies().Start(t.Context(), t.Output()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := nodes.NetworkPolicies().Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	s := begin(t, "guarded", onVolumes(3))
	s.client()
	stranger := s.passerby("stranger", nil)
	friend := s.passerby("friend", map[string]string{"role": "client"})

	s.connects("stranger", stranger, map[int]bool{member.ClientPort: true, member.PeerPort: false, member.MetricsPort: true})

	s.guard(v1beta2.NetworkPolicySpec{Mode: v1beta2.NetworkPolicyStrict, ClientsFrom: []v1beta2.NetworkPeer{
		{PodSelector: &v1beta2.PeerSelector{MatchLabels: map[string]string{"role": "client"}}},
		{PodSelector: &v1beta2.PeerSelector{MatchLabels: map[string]string{harness.ClientLabel: s.Name}}},
	}})
	s.connects("stranger", stranger, map[int]bool{member.ClientPort: false, member.PeerPort: false, member.MetricsPort: false})
	s.connects("friend", friend, map[int]bool{member.ClientPort: true, member.PeerPort: false, member.MetricsPort: false})
	s.backup("guarded", s.volume(), nil)
	s.backedUp("guarded") // its pod reaches a member
	s.resize(5)           // the operator reaches members, and they each other
	s.healthy("3 to 5 under a strict NetworkPolicy")
	s.settled()
	s.report("under a strict NetworkPolicy")

	s.guard(v1beta2.NetworkPolicySpec{Mode: v1beta2.NetworkPolicyNone})
	s.connects("stranger", stranger, map[int]bool{member.ClientPort: true, member.PeerPort: true, member.MetricsPort: true})
	must(t, s.writer.Stop(t.Context()))
}

func (s *story) guard(policy v1beta2.NetworkPolicySpec) {
	s.t.Helper()
	must(s.t, s.Edit(s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.NetworkPolicy = &policy }))
}

// passerby is a pod beside the cluster that connects to what it is told to.
func (s *story) passerby(name string, labels map[string]string) *harness.Passerby {
	s.t.Helper()
	p, err := env.NewPasserby(s.t.Context(), s.Namespace, name, labels)
	must(s.t, err)
	return p
}

// connects waits until a pod connects to those ports of every member that it is to reach, and to no others.
func (s *story) connects(what string, from *harness.Passerby, ports map[int]bool) {
	s.t.Helper()
	for port, want := range ports {
		must(s.t, harness.Await(s.t.Context(), fmt.Sprintf("%s reaches port %d: %v", what, port, want), limit,
			func(ctx context.Context) (string, bool) {
				members, err := s.Pods(ctx)
				if err != nil || len(members) == 0 {
					return fmt.Sprintf("%d pods, %v", len(members), err), false
				}
				for _, m := range members {
					err := from.Connects(ctx, m.Status.PodIP, port)
					if (err == nil) != want {
						return fmt.Sprintf("%s: %v", m.Name, err), false
					}
				}
				return "", true
			}))
	}
}
