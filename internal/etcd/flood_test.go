package etcd_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// bearable is how much memory one observation may take, whatever is answered.
const bearable = 16 << 20

// allocated is how much memory that takes, together with all that was given back meanwhile, and with what the fake servers
// take to answer: no other test may run.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestFlood has a server that is the whole electorate answer more than the operator has memory for.
func TestFlood(t *testing.T) { //nolint:paralleltest // it measures memory
	const flood = 1 << 20
	for title, c := range map[string]struct {
		members []*pb.Member
		errors  []string
		want    plan.Contact
	}{
		"as many members as can be":     {members: slices.Repeat([]*pb.Member{{Name: "m-2"}}, 64), want: plan.ContactQuorum},
		"one more":                      {members: slices.Repeat([]*pb.Member{{Name: "m-2"}}, 65), want: plan.ContactMinority},
		"members without end":           {members: slices.Repeat([]*pb.Member{{}}, flood), want: plan.ContactMinority},
		"faults of its own without end": {errors: make([]string, flood), want: plan.ContactNone},
	} {
		t.Run(title, func(t *testing.T) {
			l, address := newLiar(t, 0xc1, 3, 1)
			l.members, l.errors = c.members, c.errors
			all := []etcd.Endpoint{{Pod: "m-2", PodUID: "liar", Address: address}}
			pool, voters := newPool(t), plan.Electorate{ClusterID: 0xc1, Voters: []string{"m-2"}}
			var s *etcd.Session
			took := allocated(func() { s = pool.Observe(t.Context(), t.Name(), nil, voters, all) })
			if s.Seen.Contact != c.want || took > bearable {
				t.Errorf("contact %d, want %d, with %d members; it took %d bytes", s.Seen.Contact, c.want, len(s.Seen.Members), took)
			}
		})
	}
}

// TestFloodOfMetrics has a member tell more metrics than the operator has memory for: some that no one asks for, and then
// some of those that matter.
func TestFloodOfMetrics(t *testing.T) { //nolint:paralleltest // it measures memory
	for title, line := range map[string]string{
		"of other families": "other_%d 1\n",
		"that matter":       "etcd_server_has_leader{n=\"%d\"} 1\n",
		"on one line":       "other_%d ",
	} {
		t.Run(title, func(t *testing.T) {
			var text bytes.Buffer
			for i := 0; text.Len() < 8<<20-64; i++ {
				_, _ = fmt.Fprintf(&text, line, i)
			}
			flood := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write(text.Bytes())
			}))
			t.Cleanup(flood.Close)
			servers, endpoints := three(t)
			slow(servers)
			endpoints[0].Metrics = flood.Listener.Addr().String()
			pool := newPool(t)
			var seen plan.Etcd
			took := allocated(func() { seen = pool.Observe(t.Context(), t.Name(), nil, voting(0xc1, endpoints), endpoints).Seen })
			if _, told := diskOf(seen, "m-0"); told || len(seen.Disks) != 2 || took > bearable {
				t.Errorf("disks %+v; it took %d bytes", seen.Disks, took)
			}
		})
	}
}
