package defrag

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/documented"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members/memberstest"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
)

// newJob is one about all members of a cluster that the operator leaves alone.
func newJob(c *members.Cluster, out *strings.Builder) *job {
	return &job{
		cluster: c, out: out, all: true, timeout: time.Minute,
		object: func(context.Context) (*v1beta2.EtcdCluster, error) { return &v1beta2.EtcdCluster{}, nil },
	}
}

// TestRun has real servers give back what was deleted, the leader as the last one, and leaves them alone once one is down.
func TestRun(t *testing.T) {
	servers := embedtest.Start(t, 3)
	fill(t, servers)
	c := memberstest.Of(t, servers, 3)
	before := memberstest.Healthy(t, c)

	var out strings.Builder
	dry := newJob(c, &out)
	dry.dry = true
	must(t, dry.run(t.Context()))
	if v := memberstest.Healthy(t, c); v.Members[0].Bytes != before.Members[0].Bytes || !strings.Contains(out.String(), "Nothing was changed") {
		t.Errorf("after a dry run: %+v\n%s", v.Members, out.String())
	}

	out.Reset()
	must(t, newJob(c, &out).run(t.Context()))
	documented.Alike(t, "kubectl etcd defrag example --all", out.String())
	after := memberstest.Healthy(t, c)
	for i, m := range after.Members {
		if m.Bytes >= before.Members[i].Bytes/2 {
			t.Errorf("the database of %s had %d bytes, and has %d", m.Name, before.Members[i].Bytes, m.Bytes)
		}
	}
	if after.Leader == before.Leader {
		t.Errorf("%s led while it was busy", after.Leader)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, before.Leader+" ") || !strings.Contains(last, " → ") {
		t.Errorf("the last one is not %s: %s", before.Leader, last)
	}

	servers.Members[2].Stop(t)
	must(t, c.Await(t.Context(), time.Minute, "one is missed", func(v members.View) bool {
		m, err := v.Member("m-2")
		return err == nil && !m.Healthy && v.Leader != "" && v.Leader != "m-2"
	}))
	one := newJob(c, &out)
	one.all, one.member = false, "m-0"
	err := one.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "m-0 has to stay: not all others are healthy: m-2 (it does not answer)") {
		t.Errorf("while another one is down: %v", err)
	}
	servers.Members[1].Stop(t)
	one.force = true
	if err := one.run(t.Context()); err == nil || !strings.Contains(err.Error(), "no quorum") {
		t.Errorf("without a quorum: %v", err)
	}
}

// TestForce pauses the only member if that is accepted.
func TestForce(t *testing.T) {
	servers := embedtest.Start(t, 1)
	c := memberstest.Of(t, servers, 1)
	memberstest.Healthy(t, c)
	var out strings.Builder
	j := newJob(c, &out)
	err := j.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no member of 1 can be missed") || !strings.Contains(err.Error(), "--force") || out.Len() > 0 {
		t.Errorf("without --force: %v\n%s", err, out.String())
	}
	j.force = true
	for what, change := range map[string]func(*v1beta2.EtcdCluster){
		"updating its members":  func(c *v1beta2.EtcdCluster) { c.Status.TargetVersion = "3.7.3" },
		"replaced by a restore": func(c *v1beta2.EtcdCluster) { c.Status.Phase = v1beta2.ClusterPhaseRestoring },
	} {
		disturbed := *j
		disturbed.object = func(context.Context) (*v1beta2.EtcdCluster, error) {
			c := &v1beta2.EtcdCluster{}
			change(c)
			return c, nil
		}
		if err := disturbed.run(t.Context()); err == nil || !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), "--force") || out.Len() > 0 {
			t.Errorf("with --force, %s: %v\n%s", what, err, out.String())
		}
	}
	must(t, j.run(t.Context()))
	if !strings.Contains(out.String(), "m-0 ") {
		t.Errorf("it says %s", out.String())
	}
}

// TestMemberHangs gives up after the time-out, and says who comes no more.
func TestMemberHangs(t *testing.T) {
	servers := embedtest.Start(t, 3)
	c := memberstest.Of(t, servers, 3)
	memberstest.Healthy(t, c)
	var out strings.Builder
	j := newJob(c, &out)
	j.timeout = time.Nanosecond
	err := j.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "has not answered within 1ns") || !strings.Contains(err.Error(), "; not defragmented: ") {
		t.Errorf("it says %v", err)
	}
}

// TestOrder has the leader last.
func TestOrder(t *testing.T) {
	v := members.View{Leader: "demo-0", Members: []members.Member{{Name: "demo-0"}, {Name: "demo-1"}, {Name: "demo-2", Learner: true}}}
	queue, err := order(v, "", true)
	var names []string
	for _, m := range queue {
		names = append(names, m.Name)
	}
	if err != nil || !slices.Equal(names, []string{"demo-1", "demo-2", "demo-0"}) {
		t.Errorf("the order is %v, %v", names, err)
	}
	if queue, err := order(v, "demo-0", false); err != nil || len(queue) != 1 {
		t.Errorf("one of them: %v, %v", queue, err)
	}
	if _, err := order(v, "demo-7", false); err == nil {
		t.Error("a member that is not there is defragmented")
	}
}

// TestUndisturbed keeps out of the operator's way.
func TestUndisturbed(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1beta2.EtcdCluster)
		want   string
	}{
		"settled":              {func(*v1beta2.EtcdCluster) {}, ""},
		"another version":      {func(c *v1beta2.EtcdCluster) { c.Status.TargetVersion = "3.7.3" }, "updating its members to etcd 3.7.3"},
		"other options":        {func(c *v1beta2.EtcdCluster) { c.Status.UpdatedMembers = 1 }, "updating its members to the spec"},
		"defragmenting one":    {progresses(metav1.ConditionTrue, v1beta2.ReasonDefragmenting), "the operator is defragmenting a member by itself"},
		"making room":          {progresses(metav1.ConditionTrue, v1beta2.ReasonMakingRoom), "the operator is defragmenting a member by itself"},
		"it has defragmented":  {progresses(metav1.ConditionFalse, v1beta2.ReasonDefragmenting), ""},
		"paused in the midst":  {func(c *v1beta2.EtcdCluster) { c.Status.UpdatedMembers, c.Spec.Paused = 1, true }, ""},
		"restored, and paused": {func(c *v1beta2.EtcdCluster) { c.Status.Phase, c.Spec.Paused = v1beta2.ClusterPhaseRestoring, true }, "restore"},
	} {
		c := &v1beta2.EtcdCluster{}
		c.Status.Size, c.Status.UpdatedMembers = 3, 3
		test.change(c)
		err := undisturbed(c)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fill writes a few megabytes, and deletes them in all databases.
func fill(t *testing.T, servers *embedtest.Cluster) {
	t.Helper()
	value := strings.Repeat("x", 100_000)
	ask := func(m *embedtest.Member, do func(*clientv3.Client) error) {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + m.Address}})
		must(t, err)
		must(t, do(client))
		must(t, client.Close())
	}
	ask(servers.Members[0], func(c *clientv3.Client) error {
		for i := range 40 {
			if _, err := c.Put(t.Context(), fmt.Sprintf("key/%d", i), value); err != nil {
				return err
			}
		}
		_, err := c.Delete(t.Context(), "key/", clientv3.WithPrefix())
		return err
	})
	for _, m := range servers.Members { // each answers once its own database is compacted
		ask(m, func(c *clientv3.Client) error {
			put, err := c.Put(t.Context(), "compacted", m.Name)
			if err == nil {
				_, err = c.Compact(t.Context(), put.Header.Revision, clientv3.WithCompactPhysical())
			}
			return err
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// progresses has the operator say what it does.
func progresses(is metav1.ConditionStatus, reason string) func(*v1beta2.EtcdCluster) {
	return func(c *v1beta2.EtcdCluster) {
		c.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionProgressing, Status: is, Reason: reason}}
	}
}
