package snapshot

import "testing"

func TestChoose(t *testing.T) {
	const leader = 1
	member := func(endpoint string, id, applied uint64) Status {
		return Status{Endpoint: endpoint, MemberID: id, Leader: leader, Applied: applied, Quorum: true}
	}
	cutOff := func(endpoint string, id, applied uint64) Status {
		return Status{Endpoint: endpoint, MemberID: id, Leader: leader, Applied: applied}
	}
	learner := cutOff("l", 9, 5000)
	learner.Learner = true
	corrupt := member("c", 8, 5000)
	corrupt.Corrupt = true
	lost := func(endpoint string, id, applied uint64) Status {
		return Status{Endpoint: endpoint, MemberID: id, Applied: applied}
	}
	for title, c := range map[string]struct {
		members []Status
		want    string
	}{
		"nobody":                              {nil, ""},
		"the only one":                        {[]Status{member("a", leader, 1)}, "a"},
		"a follower":                          {[]Status{member("a", leader, 5000), member("b", 2, 4990)}, "b"},
		"the one with more":                   {[]Status{member("a", 3, 4980), member("b", 2, 4990)}, "b"},
		"the first by name":                   {[]Status{member("b", 3, 5000), member("a", 2, 5000)}, "a"},
		"not a follower far behind":           {[]Status{member("a", leader, 5000), member("b", 2, 3999)}, "a"},
		"the leader before a learner":         {[]Status{member("a", leader, 5000), learner}, "a"},
		"a learner before nothing":            {[]Status{learner, lost("a", 2, 5000)}, "l"},
		"a corrupt one never":                 {[]Status{corrupt}, ""},
		"another than the corrupt":            {[]Status{corrupt, member("a", leader, 1)}, "a"},
		"without a quorum, the most":          {[]Status{lost("a", 1, 10), lost("b", 2, 30), lost("c", 3, 20)}, "b"},
		"one that has lost the others":        {[]Status{lost("a", 3, 5000), member("b", 2, 5000)}, "b"},
		"with a quorum before one with more":  {[]Status{lost("a", 3, 9000), member("b", 2, 5000)}, "b"},
		"with a quorum, though it is behind":  {[]Status{cutOff("a", 3, 9000), member("b", 2, 5000)}, "b"},
		"the leader before a cut off one":     {[]Status{cutOff("a", 3, 5000), member("b", leader, 5000)}, "b"},
		"an old leader is not asked":          {[]Status{cutOff("a", leader, 5000), member("b", 2, 5000)}, "b"},
		"a corrupt one has no quorum for all": {[]Status{corrupt, cutOff("a", 2, 10)}, "a"},
		"cut off, the most":                   {[]Status{cutOff("a", 2, 10), lost("b", 3, 20)}, "b"},
	} {
		if got, ok := choose(c.members); got.Endpoint != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %q, %v", title, got.Endpoint, ok)
		}
	}
}

func TestIsCorrupt(t *testing.T) {
	for text, want := range map[string]bool{
		"memberID:17 alarm:CORRUPT": true, "memberID:18 alarm:CORRUPT": false, "memberID:17  alarm:NOSPACE": false, "": false,
	} {
		if got := isCorrupt([]string{"etcdserver: no leader", text}, 17); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
