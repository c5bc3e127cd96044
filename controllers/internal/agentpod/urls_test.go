package agentpod

import (
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestMemberURLs leaves out a member whose data was found to be wrong, unless there is no other one.
func TestMemberURLs(t *testing.T) {
	c := &v1beta2.EtcdCluster{}
	c.Name, c.Namespace = "c", "ns"
	of := func(name, id string, role v1beta2.MemberRole) v1beta2.MemberStatus {
		return v1beta2.MemberStatus{Name: name, ID: id, Role: role}
	}
	all := []v1beta2.MemberStatus{of("c-0", "a0", v1beta2.MemberRoleVoter), of("c-1", "a1", v1beta2.MemberRoleVoter), of("c-2", "a2", v1beta2.MemberRoleLearner)}
	for title, given := range map[string]struct {
		members []v1beta2.MemberStatus
		wrong   *v1beta2.QuarantinedMember
		doubt   *v1beta2.DataDoubt
		want    []string
	}{
		"all are right":                    {all, nil, nil, []string{"c-0", "c-1"}},
		"one is wrong":                     {all, &v1beta2.QuarantinedMember{Name: "c-1", MemberID: "a1"}, nil, []string{"c-0"}},
		"one is suspected":                 {all, nil, &v1beta2.DataDoubt{Suspect: "a1"}, []string{"c-0"}},
		"nobody knows who is wrong":        {all, nil, &v1beta2.DataDoubt{Split: true}, []string{"c-0", "c-1"}},
		"another one of that name was":     {all, &v1beta2.QuarantinedMember{Name: "c-1", MemberID: "b1"}, nil, []string{"c-0", "c-1"}},
		"there is no other than it":        {all[1:], &v1beta2.QuarantinedMember{Name: "c-1", MemberID: "a1"}, nil, []string{"c-1"}},
		"nobody votes, as far as is known": {all[2:], nil, nil, nil},
	} {
		c.Status.MemberStatuses, c.Status.Quarantined, c.Status.Doubt = given.members, given.wrong, given.doubt
		got := MemberURLs(c, Voting)
		if len(got) != len(given.want) {
			t.Errorf("%s: %q, want %q", title, got, given.want)
			continue
		}
		for i, name := range given.want {
			if !strings.Contains(got[i], "://"+name+".") {
				t.Errorf("%s: %q, want %q", title, got, given.want)
			}
		}
	}
}
